import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { Workspace } from "../../src/config.ts";
import { createHub, PlugboardError } from "../../src/index.ts";
import { add, browser, openScene as openLogin } from "../auth/oauth-fixture.ts";
import { createSandbox } from "../sandbox.ts";
import { rounds } from "../rounds.ts";
import { GRANTS, startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import type { AuthOptions } from "../fixtures/auth/index.ts";

const program = join(import.meta.dirname, "programs", "call-on-word.ts");
const compiled = mkdtempSync(join(tmpdir(), "plugboard-compiled-"));
/** Of an access token. */
const lifeMs = 3_600_000;
/** A token that is refused sooner after a renewal is not renewed again. */
const pauseMs = 10_000;
const lost = AbortSignal.abort(new PlugboardError("store-unavailable", "Another process has taken over"));
const runs = Array.from({ length: rounds(4, 20) }, (_, index) => index + 1);

afterAll(() => rmSync(compiled, { recursive: true, force: true, maxRetries: 20 }));

test(`M73 twelve processes at the moment of expiry: one refresh, twelve answers, no reuse; ${runs.length} times in a row`, async () => {
  const scene = await openScene();
  const callers = await scene.start(12);
  for (const run of runs) {
    const isRefused = run % 2 === 0;
    const together = Promise.withResolvers<void>();
    scene.auth.set({ faults: { token: { until: together.promise } } });
    if (isRefused) scene.auth.expireAccessTokens();
    const since = scene.server.received.length;
    const answers = callers.map((caller) => caller.call(isRefused ? pauseMs : lifeMs));
    await Promise.all(callers.map(({ calling }) => calling));
    if (isRefused) await scene.refused(callers, since);
    together.resolve();
    expect(await Promise.all(answers)).toEqual(callers.map(({ sum }) => ({ sum })));
    expect(scene.auth.stats).toMatchObject({ refreshes: run, reuses: 0 });
  }
  await Promise.all(callers.map((caller) => caller.end()));
});

describe("M73 the process that renews the login is killed", () => {
  test(`before the authorization server did anything: one refresh, twelve answers, no reuse; ${runs.length} times in a row`, async () => {
    const scene = await openScene();
    let callers = await scene.start(13);
    for (const run of runs) {
      const { holder, others, answers } = await scene.killHolder(
        callers,
        run % 2 === 0 ? "has sent" : "has the lock",
      );
      const next = scene.start(1, holder.who);
      expect(await Promise.all(answers)).toEqual(others.map(({ sum }) => ({ sum })));
      expect(scene.auth.stats).toMatchObject({ refreshes: run, reuses: 0 });
      callers = [...others, ...(await next)];
    }
    await Promise.all(callers.map((caller) => caller.end()));
  });

  test("after the old token was spent and before the new one was kept: all hear of it, and go on after a login", async () => {
    const scene = await openScene();
    const callers = await scene.start(4);
    const { others, answers } = await scene.killHolder(callers, "has an answer");
    expect(await Promise.all(answers)).toEqual(others.map(() => ({ error: "auth-required" })));
    expect(scene.auth.stats).toMatchObject({ refreshes: 1, reuses: 1 });
    await scene.logIn();
    const again = others.map((caller) => caller.call(pauseMs));
    expect(await Promise.all(again)).toEqual(others.map(({ sum }) => ({ sum })));
    expect(scene.auth.stats).toMatchObject({ refreshes: 1, reuses: 1 });
  });

  test("at that moment, where the old token may be used again: nobody else notices", async () => {
    const scene = await openScene({ rotation: false });
    const { others, answers } = await scene.killHolder(await scene.start(4), "has an answer");
    expect(await Promise.all(answers)).toEqual(others.map(({ sum }) => ({ sum })));
    expect(scene.auth.stats).toMatchObject({ refreshes: 2, reuses: 0 });
  });
});

test("M73 whoever lost the lock in its sleep sends nothing", async () => {
  const { auth, credentials, hub: open } = await openLogin();
  const hub = await open(
    {},
    { credentials: { ...credentials, lock: (_name, work) => work({ signal: lost }) } },
  );
  await hub.login("issues", browser());
  await add(hub);
  auth.expireAccessTokens();
  await expect(add(hub)).rejects.toMatchObject({ code: "store-unavailable", retryable: true });
  expect(auth.stats).toMatchObject({ refreshes: 0, reuses: 0 });
});

/** A person who is logged in, and processes of theirs that are connected. */
async function openScene(options: AuthOptions = {}) {
  const auth = await startAuthServer({ autoConsent: true, accessTokenMs: lifeMs, ...options });
  const server = await startProtectedMcp(auth);
  onTestFinished(async () => {
    await server.close();
    await auth.close();
  });
  const box = createSandbox();
  box.write("home/.config/plugboard/config.json", { mcpServers: { issues: { url: server.url } } });
  const workspace = await Workspace.open({ cwd: box.home, env: { HOME: box.home } });
  onTestFinished(() => workspace.close());
  await logIn();

  return { auth, server, logIn, start, refused, killHolder };

  async function logIn(): Promise<void> {
    const config = await workspace.load();
    await using hub = await createHub(config, await workspace.hubOptions(config));
    await hub.login("issues", browser());
  }

  /** The first one compiles for the others. */
  async function start(count: number, who = 1): Promise<Caller[]> {
    const first = new Caller(box.home, who);
    await first.ready;
    const others = Array.from({ length: count - 1 }, (_, index) => new Caller(box.home, who + 1 + index));
    await Promise.all(others.map(({ ready }) => ready));
    return [first, ...others];
  }

  /** Each of them was turned away since the tokens expired. */
  async function refused(callers: Caller[], since: number): Promise<void> {
    await vi.waitFor(() => {
      const asking = server.received.slice(since).map(({ message }) => argumentA(message));
      expect(asking).toEqual(expect.arrayContaining(callers.map(({ who }) => who)));
    }, patience);
  }

  /** Lets all of them find the token expired, and kills the one that renews it at that moment. */
  async function killHolder(callers: Caller[], moment: "has the lock" | "has sent" | "has an answer") {
    const dead = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const [asked, given] = [tokenRequests(), auth.stats.refreshes];
    const token = {
      "has the lock": {},
      "has sent": { times: 1, until: dead.promise, drop: "before" as const },
      "has an answer": { times: 1, until: locked.promise },
    }[moment];
    auth.set({ faults: { token } });
    auth.expireAccessTokens();
    if (moment === "has the lock") await lockVault(dead.promise);
    const since = server.received.length;
    const calls = new Map(callers.map((caller) => [caller, caller.call(pauseMs)]));
    await refused(callers, since);
    if (moment !== "has the lock") await vi.waitFor(() => expect(tokenRequests()).toBe(asked + 1), patience);
    if (moment === "has an answer") {
      await lockVault(dead.promise);
      locked.resolve();
      await vi.waitFor(() => expect(auth.stats.refreshes).toBe(given + 1), patience);
    }
    const holder = await vi.waitFor(() => holderAmong(callers), patience);
    expect(tokenRequests() - asked).toBe(moment === "has the lock" ? 0 : 1);
    await holder.kill();
    dead.resolve();
    calls.delete(holder);
    return { holder, others: [...calls.keys()], answers: [...calls.values()] };
  }

  /** Nobody else writes to the vault until then; reading goes on. */
  async function lockVault(until: Promise<void>): Promise<void> {
    const locked = Promise.withResolvers<void>();
    void workspace.credentials.lock("vault", () => {
      locked.resolve();
      return until;
    });
    await locked.promise;
  }

  function holderAmong(callers: Caller[]): Caller {
    const store = new DatabaseSync(workspace.stateFile, { readOnly: true });
    try {
      const query = "SELECT pid FROM leases WHERE name LIKE 'renew/%' AND owner IS NOT NULL";
      const pid = store.prepare(query).get()?.["pid"];
      const holder = callers.find(({ process }) => process.pid === pid);
      if (!holder) throw new Error(`nobody among them holds the lock, but ${String(pid)}`);
      return holder;
    } finally {
      store.close();
    }
  }

  function tokenRequests(): number {
    return auth.received.filter(({ params }) => params.get("grant_type") === GRANTS.refresh).length;
  }
}

const patience = { timeout: 120_000, interval: 20 };

function argumentA(message: Record<string, unknown> | undefined): unknown {
  const { params } = (message ?? {}) as { params?: { arguments?: { a?: unknown } } };
  return params?.arguments?.a;
}

/** A process that calls when it is told to. */
class Caller {
  readonly who: number;
  readonly process: ChildProcess;
  readonly ready: Promise<unknown>;
  calling: Promise<unknown> = Promise.resolve();

  constructor(home: string, who: number) {
    this.who = who;
    const env = { HOME: home, NODE_COMPILE_CACHE: compiled };
    this.process = fork(program, [home, String(who)], { env });
    this.ready = once(this.process, "message");
    onTestFinished(() => void this.process.kill("SIGKILL"));
  }

  get sum(): number {
    return this.who + 1;
  }

  async call(passedMs: number): Promise<unknown> {
    this.calling = once(this.process, "message");
    this.process.send(passedMs);
    await this.calling;
    const [answer] = (await once(this.process, "message")) as unknown[];
    return answer;
  }

  async kill(): Promise<void> {
    const gone = once(this.process, "exit");
    this.process.kill("SIGKILL");
    await gone;
  }

  async end(): Promise<void> {
    const gone = once(this.process, "exit");
    this.process.send("end");
    await gone;
  }
}
