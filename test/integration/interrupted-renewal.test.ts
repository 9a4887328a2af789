import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Workspace } from "../../src/config.ts";
import { createHub } from "../../src/index.ts";
import { WorkspaceState } from "../../src/workspace/state.ts";
import { browser } from "../auth/oauth-fixture.ts";
import { createSandbox } from "../sandbox.ts";
import { GRANTS, startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import { commandLine } from "../command-line.ts";

const call = ["call", "issues.add", "a=1", "b=2"];
const never = new Promise<never>(() => undefined);
const patience = { timeout: 60_000, interval: 20 };

describe.runIf(process.platform === "linux")("a command that is interrupted", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("M73 by %s while it renews a login does not lose it", async (signal, code) => {
    const { auth, start, renewals } = await openScene();
    const held = Promise.withResolvers<void>();
    auth.set({ faults: { token: { until: held.promise } } });
    const { child, ended } = start(call);
    await vi.waitFor(() => expect(renewals()).toBe(1), patience);
    child.kill(signal);
    await vi.waitFor(() => expect(catchesInterrupts(child.pid)).toBe(false), patience);
    held.resolve();
    expect(await ended).toMatchObject({ code, out: "" });
    expect(await start(call).ended).toMatchObject({ code: 0, out: "sum  3\n" });
    expect(auth.stats).toMatchObject({ refreshes: 1, reuses: 0 });
  });

  it("a second time waits for no renewal", async () => {
    const { auth, start, renewals } = await openScene();
    auth.set({ faults: { token: { until: never } } });
    const { child, ended } = start(call);
    await vi.waitFor(() => expect(renewals()).toBe(1), patience);
    child.kill("SIGINT");
    await vi.waitFor(() => expect(catchesInterrupts(child.pid)).toBe(false), patience);
    child.kill("SIGINT");
    await ended;
    expect(child.signalCode).toBe("SIGINT");
  });
});

it("closing waits for what holds a lock, and for nothing that never ends", async () => {
  const box = createSandbox();
  const options = { file: join(box.folders.state, "state.sqlite"), home: box.home };
  const state = new WorkspaceState(options);
  const begun = Promise.withResolvers<void>();
  const order: string[] = [];
  const working = state.lock("one", async () => {
    begun.resolve();
    await new Promise(setImmediate);
    await state.lock("inside", async () => order.push("done"));
  });
  await begun.promise;
  await state.close().then(() => order.push("closed"));
  expect(order).toEqual(["done", "closed"]);
  await working;

  const impatient = new WorkspaceState({ ...options, closeTimeoutMs: 1 });
  const lock = Promise.withResolvers<AbortSignal>();
  void impatient.lock("two", ({ signal }) => (lock.resolve(signal), never));
  const signal = await lock.promise;
  await impatient.close();
  expect(signal.aborted).toBe(true);
});

/** The last thing a command does before it closes its workspace is to leave signals to the system again. */
function catchesInterrupts(pid = 0): boolean {
  const [, caught = "0"] = /^SigCgt:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return (BigInt(`0x${caught}`) & (1n << BigInt(constants.signals.SIGINT - 1))) !== 0n;
}

/** Somebody who is logged in, with an access token that is refused from now on. */
async function openScene() {
  const auth = await startAuthServer({ autoConsent: true });
  const server = await startProtectedMcp(auth);
  onTestFinished(async () => {
    await server.close();
    await auth.close();
  });
  const box = createSandbox({
    "home/.config/plugboard/config.json": { mcpServers: { issues: { url: server.url } } },
  });
  await using workspace = await Workspace.open({ cwd: box.home, env: { HOME: box.home } });
  const config = await workspace.load();
  await using hub = await createHub(config, await workspace.hubOptions(config));
  await hub.login("issues", browser());
  auth.expireAccessTokens();

  return { auth, start, renewals };

  function start(words: string[]) {
    const child = spawn(process.execPath, [commandLine, ...words], { env: box.env, cwd: box.project });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [out, err] = [text(child.stdout), text(child.stderr)];
    const closed = once(child, "close") as Promise<[code: number | null]>;
    const ended = closed.then(async ([code]) => ({ code, out: await out, err: await err }));
    return { child, ended };
  }

  function renewals(): number {
    return auth.received.filter(({ params }) => params.get("grant_type") === GRANTS.refresh).length;
  }
}
