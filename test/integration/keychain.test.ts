import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { openKeychain } from "../../src/auth/vault/keychain.ts";
import { filesWith } from "../auth/vault-fixture.ts";
import { commandLine } from "../command-line.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { has, hasKeychainLibrary } from "../machine.ts";
import { sessionCommand } from "./keychain-session.ts";
import type { Session } from "./keychain-session.ts";

const hasKeychain = has("keychain");
const hasLibrary = hasKeychainLibrary();
const kept = hasKeychain ? "keychain" : "file";
const program = join(import.meta.dirname, "..", "auth", "programs", "vault-steps.ts");
const asker = join(import.meta.dirname, "programs", "ask-keychain.ts");
const canary = "canary-51d2-kept";

type Step = ["set", string, string] | ["get", string] | ["accounts"];

describe(`M72 the vault with ${hasKeychain ? "gnome-keyring" : "no keychain to be had"}`, () => {
  it("puts its key into an unlocked keychain and finds it in the next session", () => {
    const box = createSandbox();
    expect(
      run(box, "unlocked", [
        ["set", "A", canary],
        ["get", "A"],
        ["set", "B", canary],
      ]),
    ).toEqual([kept, canary, kept]);
    expect(
      run(box, "unlocked", [
        ["get", "A"],
        ["get", "B"],
        ["get", "C"],
      ]),
    ).toEqual([canary, canary, null]);
    expect(filesWith(box.home, [canary])).toEqual([]);
    expect(existsSync(join(box.folders.state, "vault", "vault.key"))).toBe(!hasKeychain);
  });

  it("leaves one entry in the keychain, and nothing of its trial", () => {
    const box = createSandbox();
    const [, , accounts] = hasKeychain
      ? run(box, "unlocked", [["set", "A", canary], ["set", "B", canary], ["accounts"]])
      : ["", "", ["vault-key/0000000000000000"]];
    expect(accounts).toEqual([expect.stringMatching(/^vault-key\/[0-9a-f]{16}$/)]);
  });

  it.each(["locked", "absent"] as const)("loses nothing while the keychain is %s", (session) => {
    const box = createSandbox();
    run(box, "unlocked", [["set", "A", canary]]);
    const whileAway = run(box, session, [
      ["get", "A"],
      ["set", "B", "kept meanwhile"],
      ["get", "B"],
      ["get", "C"],
    ]);
    expect(whileAway).toEqual([hasKeychain ? { reason: "locked" } : canary, "file", "kept meanwhile", null]);
    expect(
      run(box, "unlocked", [
        ["get", "A"],
        ["get", "B"],
        ["set", "C", "c"],
        ["get", "C"],
      ]),
    ).toEqual([canary, "kept meanwhile", kept, "c"]);
  });

  it("finds what was kept before there was a keychain, and what is kept after it went", () => {
    const box = createSandbox();
    expect(run(box, "absent", [["set", "BEFORE", "1"]])).toEqual(["file"]);
    expect(
      run(box, "unlocked", [
        ["get", "BEFORE"],
        ["set", "BEFORE", "2"],
        ["set", "WITH", "3"],
      ]),
    ).toEqual(["1", kept, kept]);
    expect(run(box, "absent", [["set", "AFTER", "4"]])).toEqual(["file"]);
    expect(
      run(box, "unlocked", [
        ["get", "BEFORE"],
        ["get", "WITH"],
        ["get", "AFTER"],
      ]),
    ).toEqual(["2", "3", "4"]);
  });

  it("says through the command line where the key is, and that a locked keychain hides a secret", () => {
    const box = createSandbox();
    const set = inSession(box, "unlocked", [commandLine, "secret", "set", "A", "-"], canary);
    expect(set.stdout).toContain(hasKeychain ? "whose key is in the keychain" : "whose key is in vault.key");
    const list = inSession(box, "locked", [commandLine, "secret", "list"], "");
    expect(list.status).toBe(0);
    expect(list.stdout + list.stderr).toContain(hasKeychain ? "1 record cannot be read." : "A ");
    expect(set.stdout + set.stderr + list.stdout + list.stderr).not.toContain(canary);
  });
});

describe("M72 a keychain that does not behave", () => {
  it("is given up after its deadline when the bus accepts and never answers", async () => {
    const box = createSandbox();
    const { address } = await silentBus(box);
    const keychain = openKeychain({ DBUS_SESSION_BUS_ADDRESS: address }, { deadlineMs: 500 });
    const started = performance.now();
    expect(await keychain?.isUsable()).toBe(hasLibrary ? false : undefined);
    expect(await keychain?.read("vault-key/x")).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it.runIf(hasLibrary && process.platform === "linux").each([
    ["is killed", "SIGKILL", 600_000],
    ["is stopped", "SIGSTOP", 2_000],
  ] as const)("is left alone, too, when whoever asked %s meanwhile", async (_what, signal, deadlineMs) => {
    const { address, connected } = await silentBus(createSandbox());
    const asking = spawn(process.execPath, [asker, String(deadlineMs)], {
      env: { DBUS_SESSION_BUS_ADDRESS: address },
      stdio: "ignore",
    });
    onTestFinished(() => void asking.kill("SIGKILL"));
    const socket = await connected;
    const gone = once(socket, "close");
    asking.kill(signal);
    await gone;
  });

  it("is not looked for without a bus, and not when it is switched off", () => {
    expect(openKeychain({}, { platform: "linux" })).toBeUndefined();
    const env = { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere", PLUGBOARD_KEYCHAIN: "off" };
    expect(openKeychain(env, { platform: "linux" })).toBeUndefined();
  });
});

function run(box: Sandbox, session: Session, steps: Step[]): unknown[] {
  const { stdout, stderr } = inSession(box, session, [program], JSON.stringify(steps));
  expect(stderr).not.toContain(canary);
  try {
    return JSON.parse(stdout) as unknown[];
  } catch {
    throw new Error(`no answer: ${stderr}`);
  }
}

function inSession(box: Sandbox, session: Session, words: string[], input: string) {
  const { command, args, env } = sessionCommand(box, session, [process.execPath, ...words]);
  return spawnSync(command, args, { env, input, encoding: "utf8", timeout: 60_000 });
}

/** Accepts, reads, and never says a word. */
async function silentBus(box: Sandbox): Promise<{ address: string; connected: Promise<Socket> }> {
  const path = box.path("bus");
  const { promise: connected, resolve } = Promise.withResolvers<Socket>();
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    resolve(socket.on("error", () => undefined).resume());
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server.listen(path), "listening");
  return { address: `unix:path=${path}`, connected };
}
