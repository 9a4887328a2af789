import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { redirectOf } from "../auth/oauth-fixture.ts";
import { createSandbox } from "../sandbox.ts";
import { startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import { has, lacks } from "../machine.ts";
import { sessionCommand } from "./keychain-session.ts";
import type { Session } from "./keychain-session.ts";
import { commandLine } from "../command-line.ts";

const program = join(import.meta.dirname, "programs", "log-in-and-call.ts");
const call = (server = "issues") => ["call", `${server}.add`, "a=1", "b=2"];
const answered = { code: 0, out: "sum  3\n" };

/** Read-only for everybody, root included. */
const bubblewrap = "bwrap";
const readOnly = [bubblewrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];

describe.skipIf(lacks("keychain"))("M72 a login, as the keychain comes and goes", () => {
  it.each([
    ["locked", "is in the keychain, which is locked or does not answer"],
    ["absent", "is in the keychain, which is not available in this session"],
  ] as const)("made with a keychain, survives one that is %s", async (session, message) => {
    const { auth, run, login, places, vault } = await openScene();
    expect(await login("unlocked")).toMatchObject({ code: 0 });
    expect(places()).toEqual(["keychain", "keychain"]);
    expect(await run("unlocked", call())).toMatchObject(answered);
    auth.expireAccessTokens();
    const before = vault();
    for (const words of [call(), ["logout", "issues"]]) {
      const refused = await run(session, words);
      expect([refused.code, refused.out]).toEqual([5, ""]);
      expect(refused.err).toContain(message);
      expect(refused.err).toContain("Nothing is lost.");
    }
    expect(vault()).toBe(before);
    expect(await run("unlocked", call())).toMatchObject(answered);
    expect(auth.stats).toMatchObject({ authorizations: 1, refreshes: 1, reuses: 0, revocations: 0 });
  });

  it("made without a keychain, is found when there is one; a second one goes there, and the first stays", async () => {
    const { auth, run, login, places } = await openScene();
    await login("absent");
    expect(places()).toEqual(["file", "file"]);
    expect(await run("unlocked", call())).toMatchObject(answered);
    expect(await login("unlocked", "work")).toMatchObject({ code: 0 });
    expect(places()).toEqual(["file", "file", "keychain", "keychain"]);
    for (const server of ["issues", "work"])
      expect(await run("unlocked", call(server))).toMatchObject(answered);
    expect(await run("absent", call())).toMatchObject(answered);
    expect(await run("absent", call("work"))).toMatchObject({ code: 5 });
    auth.expireAccessTokens();
    for (const server of ["issues", "work"])
      expect(await run("unlocked", call(server))).toMatchObject(answered);
    expect(places()).toEqual(["file", "keychain", "keychain", "keychain"]);
    expect(auth.stats).toMatchObject({ authorizations: 2, refreshes: 2, reuses: 0 });
  });

  it.each(["locked", "absent"] as const)("can be made anew while the keychain is %s", async (session) => {
    const { auth, run, login, places } = await openScene();
    await login("unlocked");
    await login("unlocked", "work");
    expect(await login(session)).toMatchObject({ code: 0 });
    expect(places()).toEqual(["file", "file", "keychain", "keychain"]);
    expect(await run(session, call())).toMatchObject(answered);
    for (const server of ["issues", "work"])
      expect(await run("unlocked", call(server))).toMatchObject(answered);
    expect(auth.stats).toMatchObject({ authorizations: 3, refreshes: 0 });
  });

  it("can be had a second time while the keychain is away, as another profile", async () => {
    const { run, login } = await openScene();
    await login("unlocked");
    expect(await login("absent", "work")).toMatchObject({ code: 0 });
    expect(await run("absent", call("work"))).toMatchObject(answered);
    for (const server of ["issues", "work"])
      expect(await run("unlocked", call(server))).toMatchObject(answered);
  });
});

describe.skipIf(lacks("bubblewrap"))("M72 a home that cannot be written", () => {
  it.each([
    ["a key file", {}],
    ["a passphrase", { PLUGBOARD_VAULT_PASSPHRASE: "canary passphrase" }],
  ])("lends the login that is there, under %s, and does not spend it", async (_name, env) => {
    const { auth, run, login, vault } = await openScene(env);
    await login("absent");
    const used = await run("absent", call(), readOnly);
    expect(used).toMatchObject(answered);
    expect(used.err).toContain("cannot be written");
    auth.expireAccessTokens();
    const before = vault();
    const refused = await run("absent", call(), readOnly);
    expect([refused.code, refused.out]).toEqual([5, ""]);
    expect(refused.err).toMatch(
      /has to be renewed, but the new login could not be stored[^]*Nothing is lost/,
    );
    expect(vault()).toBe(before);
    expect(auth.stats.refreshes).toBe(0);
    expect(await run("absent", call())).toMatchObject(answered);
    expect(auth.stats).toMatchObject({ authorizations: 1, refreshes: 1, reuses: 0 });
  });

  it("takes no new login and no secret, and says so before anybody opens a browser", async () => {
    const { auth, box, run, login } = await openScene({ VALUE: "canary-value" });
    const set = await run("absent", ["secret", "set", "A", "--from-env", "VALUE"], readOnly);
    expect([set.code, set.out]).toEqual([5, ""]);
    expect(set.err).toContain("Could not save the secret.");
    const refused = await login("absent", "issues", readOnly);
    expect([refused.code, refused.out]).toEqual([5, ""]);
    expect(refused.err).toContain('Cannot save a login to "issues".');
    expect(auth.received).toEqual([]);
    expect(readdirSync(box.home).sort()).toEqual([".config", "project"]);
    const after = await run("absent", call(), readOnly);
    expect(after.code).toBe(6);
    expect(after.err).toContain("plugboard login issues");
  });
});

describe("M72 no home at all", () => {
  it.skipIf(lacks("bubblewrap"))("takes the one that the system knows", async () => {
    const { box, run, login } = await openScene();
    const wrap = [...readOnly, "--bind", box.home, userInfo().homedir, "--unsetenv", "HOME"];
    expect(await login("absent", "issues", wrap)).toMatchObject({ code: 0 });
    expect(existsSync(join(box.folders.state, "vault", "vault.json"))).toBe(true);
    expect(await run("absent", call(), wrap)).toMatchObject(answered);
    expect(await run("absent", call())).toMatchObject(answered);
  });

  it.skipIf(lacks("bubblewrap"))(
    "and none that the system knows: says what to set, and helps all the same",
    async () => {
      const { box, run } = await openScene();
      const nobody = [...readOnly, "--unshare-user", "--uid", "54321", "--unsetenv", "HOME"];
      const refused = await run("absent", ["list"], nobody);
      expect([refused.code, refused.out]).toEqual([3, ""]);
      expect(refused.err).toMatch(/There is no home folder[^]*Set HOME to a folder/);
      for (const words of [["--version"], ["--help"], ["call", "--help"]])
        expect(await run("absent", words, nobody)).toMatchObject({ code: 0, err: "" });
      const known = await run("absent", ["list"], [...nobody, "--setenv", "HOME", box.home]);
      expect(known).toMatchObject({ code: 0, out: expect.stringContaining("issues") as string });
    },
  );

  it.each([
    ["where the home is no folder", { HOME: "/dev/null" }, []],
    ...(has("bubblewrap") ? [["where it cannot be written", {}, readOnly] as const] : []),
  ] as const)("logs in, calls and renews in one process %s, with a warning", async (_name, env, wrap) => {
    const { auth, box } = await openScene();
    const [command = "", ...args] = [
      ...wrap,
      process.execPath,
      program,
      join(box.home, ".config", "plugboard", "config.json"),
    ];
    const child = spawn(command, args, { env: { ...box.env, ...env }, cwd: box.project });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [out, err] = [text(child.stdout), text(child.stderr)];
    await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
    auth.expireAccessTokens();
    child.stdin.end();
    expect(await err).toBe("");
    const [first, second, ...warnings] = (await out).trim().split("\n");
    expect([first, second]).toEqual(['{"sum":3}', '{"sum":3}']);
    expect(warnings.filter((message) => message.includes("vault.json"))).toHaveLength(1);
    expect(auth.stats).toMatchObject({ authorizations: 1, refreshes: 1, reuses: 0 });
  });
});

/** Two accounts of one protected server, and the command line as a process of its own. */
async function openScene(env: Record<string, string> = {}) {
  const auth = await startAuthServer({ autoConsent: true });
  const server = await startProtectedMcp(auth);
  onTestFinished(async () => {
    await server.close();
    await auth.close();
  });
  const work = { url: server.url, oauth: { profile: "work" } };
  const box = createSandbox({
    "home/.config/plugboard/config.json": { mcpServers: { issues: { url: server.url }, work } },
  });

  return { auth, box, run, login, vault, places };

  /** When it shows an address, somebody opens that and pastes back where they ended. */
  async function run(session: Session, words: string[], wrap: string[] = []) {
    const { command, args, ...rest } = sessionCommand(box, session, [
      ...wrap,
      process.execPath,
      commandLine,
      ...words,
    ]);
    const child = spawn(command, args, { env: { ...rest.env, ...env }, cwd: box.project });
    onTestFinished(() => void child.kill("SIGKILL"));
    const out = text(child.stdout);
    const address = Promise.withResolvers<string | undefined>();
    let err = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      err += chunk;
      const [, shown] = /(http:\/\/127\.0\.0\.1:\d+\/authorize\S+)\s/.exec(err) ?? [];
      if (shown !== undefined) address.resolve(shown);
    });
    const closed = once(child, "close") as Promise<[code: number]>;
    if (words[0] !== "login") address.resolve(undefined);
    void closed.then(() => address.resolve(undefined));
    const shown = await address.promise;
    child.stdin.on("error", () => undefined).end(shown && (await redirectOf(new URL(shown))));
    const [code] = await closed;
    return { code, out: await out, err };
  }

  function login(session: Session, server = "issues", wrap?: string[]) {
    return run(session, ["login", server, "--no-browser"], wrap);
  }

  function vault(): string {
    return readFileSync(join(box.folders.state, "vault", "vault.json"), "utf8");
  }

  /** Where the key of each record is: a login leaves two, the client's and its own. */
  function places(): string[] {
    const { keys, records } = JSON.parse(vault()) as {
      keys: Record<string, { place: string }>;
      records: Record<string, { key: string }>;
    };
    return Object.values(records)
      .map(({ key }) => keys[key]?.place ?? "nowhere")
      .sort();
  }
}
