import { setTimeout as pause } from "node:timers/promises";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createHub, loadConfig } from "../../src/index.ts";
import type { ManagedPolicy } from "../../src/config.ts";
import type { ConnectionChanged } from "../../src/host.ts";
import type { ErrorCode, Hub, LoadedConfig } from "../../src/index.ts";
import { judgeServer } from "../../src/config/usability.ts";
import { type FakeHttp, fakeStdio, type Script } from "../fixtures/fake/index.ts";
import {
  add,
  call,
  failure,
  inProcessFake,
  openFake,
  openFolder,
  openHub,
  openLogged,
  reached,
  report,
  sum,
} from "./hub-fixture.ts";
import { isAlive, until } from "./stdio-fixture.ts";

const hangs: Script = { start: [{ silent: true }] };
const exits: Script = { start: [{ exit: 7 }] };

/** A stdio fake whose script can be changed between its starts. */
async function openChangeable(script: Script) {
  const folder = await openFolder();
  const path = join(folder.path, "script.json");
  const set = (next: Script) => writeFile(path, JSON.stringify(next));
  await set(script);
  const { command, args, env } = fakeStdio();
  const entry = { command, args: [args[0] ?? "", path], env };
  return { entry, set, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

function changes(hub: Hub, server: string): ConnectionChanged[] {
  const seen: ConnectionChanged[] = [];
  hub.on("connection-changed", (event) => event.server === server && seen.push(event));
  return seen;
}

/** A restart takes longer than the closing of the old sockets. */
async function restart(fake: FakeHttp): Promise<void> {
  await fake.restart();
  await socketsEnd();
}

async function socketsEnd(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe.concurrent("M22 starting", () => {
  it("lazy servers start with the first request, eager ones automatically", async ({ expect }) => {
    await using lazy = await openLogged();
    await using eager = await openLogged();
    await using hub = await openHub({ lazy: lazy.entry, eager: { ...eager.entry, lazy: false } });
    await reached(hub, "eager", "connected");
    expect(report(hub, "lazy").state).toBe("ready");
    expect(lazy.starts()).toBe(0);
    expect(await add(hub, "lazy")).toBe(sum);
    expect([lazy.starts(), eager.starts()]).toEqual([1, 1]);
  });

  it("`eager` starts everything but what says `lazy`, and reports when it is done", async ({ expect }) => {
    await using hub = await openHub(
      {
        good: inProcessFake({}),
        bad: { command: "/nonexistent/server" },
        lazy: { ...fakeStdio(), lazy: true },
        off: { ...fakeStdio(), enabled: false },
      },
      { eager: true },
    );
    const done = await new Promise<object>((resolve) => void hub.on("startup-complete", resolve));
    expect(done).toMatchObject({ ready: ["good"], failed: ["bad"] });
    expect((done as { skipped: string[] }).skipped.sort()).toEqual(["lazy", "off"]);
  });

  it("concurrent callers share one start", async ({ expect }) => {
    await using logged = await openLogged({ start: [{ delayMs: 200 }] });
    await using hub = await openHub({ it: logged.entry });
    const sums = await Promise.all(Array.from({ length: 50 }, () => add(hub, "it")));
    expect(new Set(sums)).toEqual(new Set([sum]));
    expect(logged.starts()).toBe(1);
    expect(report(hub, "it").counts).toMatchObject({ starts: 1, requests: 51, inFlight: 0 });
  });

  it("a listener that uses the server during its start shares that start", async ({ expect }) => {
    await using logged = await openLogged();
    await using hub = await openHub({ it: logged.entry });
    const answers: Promise<string>[] = [];
    hub.on("connection-changed", ({ to }) => {
      if (to === "connecting" || to === "connected") answers.push(add(hub, "it"));
    });
    await hub.connect("it");
    expect(await Promise.all(answers)).toEqual([sum, sum]);
    expect(logged.starts()).toBe(1);
  });

  it("the number of servers that start at once is limited by the configuration", async ({ expect }) => {
    let running = 0;
    let most = 0;
    const slow = () => {
      const { server } = inProcessFake({}) as { server: { connect(transport: never): Promise<void> } };
      return {
        server: {
          async connect(transport: never) {
            most = Math.max(most, ++running);
            await pause(10);
            await server.connect(transport);
            running--;
          },
        },
      };
    };
    const servers = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`s${index}`, slow()]));
    await using hub = await openHub(servers, {}, { startConcurrency: 3 });
    await Promise.all(Object.keys(servers).map((name) => hub.connect(name)));
    expect(most).toBe(3);
  });

  it("a caller that stops waiting does not affect the others", async ({ expect }) => {
    await using logged = await openLogged({ start: [{ delayMs: 500 }] });
    await using hub = await openHub({ it: logged.entry });
    const patient = add(hub, "it");
    expect(await failure(add(hub, "it", { signal: AbortSignal.timeout(50) }))).toMatchObject({
      code: "call-cancelled",
      server: "it",
    });
    expect(await failure(add(hub, "it", { signal: AbortSignal.abort() }))).toMatchObject({
      code: "call-cancelled",
    });
    expect(await patient).toBe(sum);
    expect(logged.starts()).toBe(1);
  });

  it("a required server that fails makes the hub fail, and nothing is left behind", async ({ expect }) => {
    await using good = await openLogged();
    await using hanging = await openLogged(hangs);
    const servers = {
      good: { ...good.entry, lazy: false },
      hanging: { ...hanging.entry, required: true },
      broken: { ...fakeStdio({ ...exits, start: [{ delayMs: 500 }, { exit: 7 }] }), required: true },
    };
    expect(await failure(createHub({ servers }))).toMatchObject({ code: "server-exited", server: "broken" });
    expect(good.pids().concat(hanging.pids()).filter(isAlive)).toEqual([]);
  });

  it("a required server that may not be used makes the hub fail too", async ({ expect }) => {
    const servers = { it: { ...fakeStdio(), required: true, env: { TOKEN: "${PLUGBOARD_NO_SUCH_VALUE}" } } };
    expect(await failure(createHub({ servers }))).toMatchObject({ code: "value-missing", server: "it" });
  });
});

/** The same configuration, with entries that need trust or violate a policy. */
function settled(
  { servers, ...rest }: LoadedConfig,
  policy: ManagedPolicy,
  untrusted: string[],
): LoadedConfig {
  const settle = (
    name: string,
    entry: LoadedConfig["servers"] extends ReadonlyMap<string, infer E> ? E : never,
  ) =>
    judgeServer(
      { ...entry, needsTrust: untrusted.includes(name) },
      { policy, env: {}, trust: { isTrusted: false, why: "not trusted" } },
    );
  return {
    ...rest,
    policy,
    servers: new Map([...servers].map(([name, entry]) => [name, settle(name, entry)])),
  };
}

describe.concurrent("M23 servers that may not be used", () => {
  async function openForbidden() {
    const logged = await openLogged();
    const { entry } = logged;
    const plain = await openHub({ policy: entry, untrusted: entry });
    const policy = { file: "managed.json", denied: [{ serverName: "policy" }] };
    const loaded = settled(plain.config, policy, ["untrusted"]);
    await plain.close();
    return { loaded, logged };
  }

  it.for([
    ["off", "server-disabled"],
    ["missing-value", "value-missing"],
    ["invalid", "config-invalid"],
  ] as [string, ErrorCode][])(
    "%s is refused with %s and never started",
    async ([reason, code], { expect }) => {
      await using logged = await openLogged();
      const entries: Record<string, object> = {
        off: { enabled: false },
        "missing-value": { env: { A: "${PLUGBOARD_NO_SUCH_VALUE}" } },
        invalid: { startupTimeoutMs: -1 },
      };
      // As in a file: a literal with a mistake is refused as a whole.
      await using folder = await openFolder();
      const file = join(folder.path, "plugboard.json");
      const it = { ...logged.entry, ...entries[reason] };
      await writeFile(file, JSON.stringify({ mcpServers: { it } }));
      const config = await loadConfig({ path: file, cwd: folder.path, env: { HOME: folder.path } });
      await using hub = await createHub(config, { eager: true });
      expect(report(hub, "it")).toMatchObject({ state: "disabled", disabledReason: reason });
      expect(report(hub, "it").hint).toBeTruthy();
      expect(await failure(add(hub, "it"))).toMatchObject({ code, server: "it" });
      expect(await failure(hub.connect("it"))).toMatchObject({ code });
      await hub.reconnect();
      expect(logged.starts()).toBe(0);
    },
  );

  it.for([
    ["policy", "policy-denied"],
    ["untrusted", "untrusted"],
  ] as [string, ErrorCode][])(
    "%s is refused with %s, and enabling it does not help",
    async ([name, code], { expect }) => {
      const { loaded, logged } = await openForbidden();
      await using _ = logged;
      await using hub = await createHub(loaded, { eager: true });
      expect(report(hub, name)).toMatchObject({ state: "disabled", disabledReason: name });
      await hub.disable(name);
      hub.enable(name);
      await hub.disconnect(name);
      expect(report(hub, name)).toMatchObject({ state: "disabled", disabledReason: name });
      expect(await failure(add(hub, name, { caller: "a" }))).toMatchObject({ code, server: name });
      expect(logged.starts()).toBe(0);
    },
  );

  it("an unknown server is reported as unknown, and a value that is set later makes a server usable", async ({
    expect,
  }) => {
    const env: Record<string, string | undefined> = { ...process.env };
    const it = { ...fakeStdio(), args: fakeStdio().args, env: { A: "${PLUGBOARD_LATER}" } };
    await using hub = await openHub({ it }, { env });
    expect(await failure(add(hub, "it"))).toMatchObject({ code: "value-missing" });
    expect(await failure(hub.connect("nobody"))).toMatchObject({ code: "server-unknown" });
    expect(await failure(add(hub, "nobody"))).toMatchObject({ code: "tool-unknown" });
    env["PLUGBOARD_LATER"] = "now";
    await hub.reload({ servers: { it } });
    expect(await add(hub, "it")).toBe(sum);
  });
});

describe.concurrent("M24 crashes and lost connections", () => {
  it("a crash fails its own call with the cause, and the next call gets a new process", async ({
    expect,
  }) => {
    await using logged = await openLogged();
    await using hub = await openHub({ it: logged.entry });
    const error = await failure(call(hub, "it", "crash", { code: 42 }));
    expect(error).toMatchObject({ code: "server-exited", server: "it", data: { exitCode: 42 } });
    expect(await add(hub, "it")).toBe(sum);
    expect(logged.starts()).toBe(2);
  });

  it("a lazy server is restarted on demand, an eager one automatically", async ({ expect }) => {
    await using lazy = await openLogged();
    await using eager = await openLogged();
    await using hub = await openHub({ lazy: lazy.entry, eager: { ...eager.entry, lazy: false } });
    await Promise.all([hub.connect("lazy"), hub.connect("eager")]);
    for (const { pids } of [lazy, eager]) process.kill(pids()[0]!, "SIGKILL");
    await reached(hub, "lazy", "waiting");
    await until(() => eager.starts() === 2, "the eager one is back");
    await reached(hub, "eager", "connected");
    expect(lazy.starts()).toBe(1);
    expect(report(hub, "lazy").message).toContain("SIGKILL");
    expect(await add(hub, "lazy")).toBe(sum);
  });

  const crashes: [string, Script][] = [
    ["never gets up", exits],
    [
      "gets up and dies",
      { versions: "legacy", on: [{ when: { method: "notifications/initialized" }, do: [{ exit: 9 }] }] },
    ],
  ];
  it.for(crashes)(
    "a server that %s is retried at growing intervals until the breaker opens; then calls fail fast",
    async ([, script], { expect }) => {
      await using changeable = await openChangeable(script);
      let aheadMs = 0;
      await using hub = await openHub(
        { it: changeable.entry },
        { clock: () => Date.now() + aheadMs, random: () => 1 },
      );
      const seen = changes(hub, "it");
      const waits: number[] = [];
      while (report(hub, "it").state !== "failed") {
        const down = seen.length;
        await hub.connect("it").catch(() => undefined);
        await until(
          () => seen.slice(down).some(({ to }) => to === "waiting" || to === "failed"),
          "it is down",
        );
        const { retryAt = 0 } = report(hub, "it");
        waits.push(Math.round((retryAt - (seen.at(-1)?.at ?? 0)) / 100) * 100);
        aheadMs += Math.max(0, retryAt - Date.now() - aheadMs);
        if (waits.length > 20) break;
      }
      expect(waits).toHaveLength(6);
      expect(waits.slice(1, 5)).toEqual([1_000, 2_000, 4_000, 8_000]);
      expect(waits[5]).toBe(60_000);
      aheadMs -= 30_000;
      const { starts } = report(hub, "it").counts;
      const errors = await Promise.all([1, 2, 3].map(() => failure(add(hub, "it"))));
      expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(["server-exited"]));
      expect(errors[0]?.message).toContain("next attempt");
      expect(report(hub, "it").counts.starts).toBe(starts);
      await changeable.set({});
      await hub.reconnect({ failedOnly: true });
      expect(report(hub, "it").state).toBe("connected");
      expect(await add(hub, "it")).toBe(sum);
    },
  );

  it("`reconnect({ failedOnly })` leaves the healthy ones alone; `reconnect()` takes all", async ({
    expect,
  }) => {
    await using good = await openLogged();
    await using bad = await openLogged(exits);
    await using hub = await openHub({ good: good.entry, bad: bad.entry });
    await hub.connect("good");
    await failure(hub.connect("bad"));
    await hub.reconnect({ failedOnly: true });
    expect([good.starts(), bad.starts() > 1]).toEqual([1, true]);
    await hub.reconnect();
    expect(good.starts()).toBe(2);
    expect(good.pids().filter(isAlive)).toHaveLength(1);
  });

  it("a session that the server forgot is replaced and the request repeated once", async ({ expect }) => {
    const lost = {
      http: {
        status: 404,
        json: { jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } },
      },
    };
    await using fake = await openFake({
      versions: "legacy",
      on: [{ when: { tool: "add", nth: 2 }, do: [lost] }],
    });
    await using hub = await openHub({ it: { url: fake.url } });
    expect([await add(hub, "it"), await add(hub, "it"), await add(hub, "it")]).toEqual([sum, sum, sum]);
    const sent = (method: string) =>
      fake.received.filter(({ message }) => message?.["method"] === method).length;
    expect([sent("initialize"), sent("tools/call")]).toEqual([2, 4]);
  });

  it("a server that forgets every session gets only one retry per call", async ({ expect }) => {
    const lost = { http: { status: 404, body: "" } };
    await using fake = await openFake({
      versions: "legacy",
      on: [{ when: { method: "tools/call" }, do: [lost] }],
    });
    await using hub = await openHub({ it: { url: fake.url } });
    const sent = () => fake.received.filter(({ message }) => message?.["method"] === "tools/call").length;
    for (let calls = 1; calls <= 8; calls++) {
      expect(await failure(add(hub, "it"))).toMatchObject({ code: "connection-lost" });
      expect(sent()).toBe(calls * 2);
    }
    fake.set({ on: [] });
    expect(await add(hub, "it")).toBe(sum);
  });

  it("many calls with a forgotten session share one new session", async ({ expect }) => {
    await using fake = await openFake({ versions: "legacy" });
    await using hub = await openHub({ it: { url: fake.url } });
    await add(hub, "it");
    await restart(fake);
    const sums = await Promise.all(Array.from({ length: 40 }, () => add(hub, "it")));
    expect(new Set(sums)).toEqual(new Set([sum]));
    expect(fake.sessions).toHaveLength(1);
  });

  it.for([
    ["legacy", "http"],
    ["modern", "http"],
    ["legacy", "sse"],
  ] as const)(
    "a %s server restarted behind the same URL (%s): the next call works",
    async ([versions, type], { expect }) => {
      await using fake = await openFake({ versions });
      await using hub = await openHub({ it: { type, url: type === "sse" ? fake.sseUrl : fake.url } });
      for (let round = 0; round < 3; round++) {
        expect(await add(hub, "it")).toBe(sum);
        await restart(fake);
      }
      expect(await add(hub, "it")).toBe(sum);
      await fake.close();
      await socketsEnd();
      const error = await failure(add(hub, "it"));
      expect(["not-responding", "connection-lost"]).toContain(error.code);
      expect(report(hub, "it").message).toBeTruthy();
      await restart(fake);
      await hub.reconnect({ failedOnly: true });
      expect(await add(hub, "it")).toBe(sum);
    },
  );
});

describe.concurrent("M24 list changes are reported", () => {
  const kinds: [string, Script][] = [
    ["stdio, legacy", { versions: "legacy" }],
    ["stdio, modern", { versions: "modern" }],
    [
      "stdio, modern, after the subscription was ended",
      {
        versions: "modern",
        on: [{ when: { method: "subscriptions/listen", nth: 1 }, do: [{ answer: {} }] }],
      },
    ],
    ["http, legacy", { versions: "legacy" }],
    ["http, modern", { versions: "modern" }],
    [
      "http, legacy, after a dropped stream",
      {
        versions: "legacy",
        on: [{ when: { http: "GET", nth: 1 }, do: [{ default: true }, { drop: "reset" }] }],
      },
    ],
    [
      "http, modern, after a dropped stream",
      {
        versions: "modern",
        on: [
          { when: { method: "subscriptions/listen", nth: 1 }, do: [{ default: true }, { drop: "reset" }] },
        ],
      },
    ],
    ["http, modern, after a restart", { versions: "modern" }],
    ["http, legacy, after a restart and a call", { versions: "legacy" }],
    ["sse, legacy", { versions: "legacy" }],
    ["in-process, legacy", { versions: "legacy" }],
    ["in-process, modern", { versions: "modern" }],
  ];
  it.for(kinds)("%s", async ([kind, script], { expect }) => {
    await using fake = await openFake(script);
    const transport = kind.split(",")[0];
    const it =
      transport === "stdio"
        ? fakeStdio(script)
        : transport === "in-process"
          ? inProcessFake(script)
          : transport === "sse"
            ? { type: "sse" as const, url: fake.sseUrl }
            : { url: fake.url };
    await using hub = await openHub({ it, other: inProcessFake({}) });
    const heard: string[] = [];
    hub.on("catalog-changed", ({ server, kind }) => heard.push(`${server} ${kind}`));
    await hub.connect("it");
    if (kind.includes("restart")) await restart(fake);
    for (const what of ["tools", "prompts", "resources"])
      await untilHeard(
        () => call(hub, "it", "change", { what }),
        () => heard.includes(`it ${what}`),
      );
    expect(new Set(heard)).toEqual(new Set(["it tools", "it prompts", "it resources"]));
  });

  /** A stream may still be reconnecting, so the change is sent until it arrives. */
  async function untilHeard(tell: () => Promise<unknown>, isHeard: () => boolean): Promise<void> {
    for (let attempt = 0; !isHeard(); attempt++) {
      if (attempt > 300) throw new Error("never heard");
      await tell();
      if (!isHeard()) await pause(100);
    }
  }

  it("a flood of changes is reported a few times, and the last one is not lost", async ({ expect }) => {
    const told = { notify: { method: "notifications/tools/list_changed" }, times: 5_000 };
    const it = fakeStdio({
      versions: "legacy",
      on: [{ when: { tool: "echo" }, do: [told, { default: true }] }],
    });
    await using hub = await openHub({ it });
    let heard = 0;
    hub.on("catalog-changed", () => heard++);
    await call(hub, "it", "echo");
    expect(heard).toBeGreaterThan(0);
    const during = heard;
    expect(during).toBeLessThan(500);
    await until(() => heard > during, "the last change is told");
  });
});

describe.concurrent("M27 changing servers at run time", () => {
  it("affects only what changed, and calls on the other servers continue", async ({ expect }) => {
    await using kept = await openLogged();
    await using edited = await openLogged();
    await using gone = await openLogged();
    const servers = { kept: kept.entry, edited: edited.entry, gone: gone.entry };
    await using hub = await openHub(servers);
    await Promise.all(["kept", "edited", "gone"].map((name) => hub.connect(name)));
    const events: object[] = [];
    hub.on("config-changed", (event) => events.push(event));
    const sleeping = call(hub, "kept", "sleep", { ms: 1_500 });
    const interrupted = failure(call(hub, "gone", "sleep", { ms: 60_000 }));
    await until(() => gone.heard().some(({ params }) => params?.["name"] === "sleep"), "it sleeps");
    await hub.reload({
      servers: {
        kept: kept.entry,
        edited: { ...edited.entry, callTimeoutMs: 5_000 },
        fresh: inProcessFake({}),
      },
    });
    expect(events).toMatchObject([{ added: ["fresh"], removed: ["gone"], changed: ["edited"] }]);
    expect(await interrupted).toMatchObject({ code: "connection-lost" });
    expect(gone.pids().concat(edited.pids()).filter(isAlive)).toEqual([]);
    expect(await failure(hub.connect("gone"))).toMatchObject({ code: "server-unknown" });
    expect([await add(hub, "fresh"), await add(hub, "edited")]).toEqual([sum, sum]);
    await hub.add("more", inProcessFake({}));
    expect(await add(hub, "more")).toBe(sum);
    await hub.remove("more");
    await hub.disable("edited");
    expect(await failure(add(hub, "edited"))).toMatchObject({ code: "server-disabled" });
    expect(edited.pids().filter(isAlive)).toEqual([]);
    hub.enable("edited");
    expect(await add(hub, "edited")).toBe(sum);
    expect(await sleeping).toBe("slept 1500 ms");
    expect([kept.starts(), edited.starts()]).toEqual([1, 3]);
  });

  it("an eager server that is switched on again starts automatically", async ({ expect }) => {
    await using hub = await openHub({ it: inProcessFake({}) }, { eager: true });
    await reached(hub, "it", "connected");
    await hub.disable("it");
    expect(report(hub, "it").state).toBe("disabled");
    hub.enable("it");
    await reached(hub, "it", "connected");
  });

  it("the name of an in-process server can be reused for another one, or for a program", async ({
    expect,
  }) => {
    await using hub = await openHub({ it: inProcessFake({ serverInfo: { name: "one", version: "1" } }) });
    await hub.connect("it");
    expect(report(hub, "it").serverInfo).toMatchObject({ name: "one" });
    await hub.reload({ servers: { it: inProcessFake({ serverInfo: { name: "two", version: "1" } }) } });
    await hub.connect("it");
    expect(report(hub, "it").serverInfo).toMatchObject({ name: "two" });
    await hub.reload({ servers: { it: fakeStdio() } });
    await hub.connect("it");
    expect(report(hub, "it").transport).toBe("stdio");
  });

  it("added and reloaded entries may refer to variables too", async ({ expect }) => {
    await using hub = await openHub({}, { env: { ...process.env, PLUGBOARD_TEST_VALUE: "x" } });
    await hub.add("it", { ...fakeStdio(), env: { A: "${PLUGBOARD_TEST_VALUE}" } });
    expect(report(hub, "it").state).toBe("ready");
    expect(await failure(hub.add("bad", { command: "x", startupTimeoutMs: -1 }))).toMatchObject({
      code: "config-invalid",
    });
  });

  it("disconnect stops a server until it is needed", async ({ expect }) => {
    await using logged = await openLogged();
    await using hub = await openHub({ it: logged.entry });
    await hub.connect("it");
    await hub.disconnect("it");
    expect(report(hub, "it").state).toBe("ready");
    expect(logged.pids().filter(isAlive)).toEqual([]);
    expect(await add(hub, "it")).toBe(sum);
  });
});

describe.concurrent("M28 sharing", () => {
  const callers = ["a", "b", "a", undefined, "b"];

  // If each call has its own process, one more process lists the tools for all of them.
  it.for([
    ["shared", 1, 1],
    ["caller", 3, 3],
    ["call", 6, 1],
  ] as const)(
    "isolation %s: %i processes for five calls of two callers and nobody, %i of them stay",
    async ([isolation, starts, staying], { expect }) => {
      await using logged = await openLogged();
      await using hub = await openHub({ it: { ...logged.entry, isolation } });
      const sums = await Promise.all(callers.map((caller) => add(hub, "it", { caller })));
      expect(new Set(sums)).toEqual(new Set([sum]));
      expect(logged.starts()).toBe(starts);
      await until(() => logged.pids().filter(isAlive).length === staying, "the others have left");
      await hub.close();
      expect(logged.pids().filter(isAlive)).toEqual([]);
    },
  );

  it.for(["shared", "caller", "call"] as const)(
    "isolation %s: disabling, disconnecting and closing end every process",
    async (isolation, { expect }) => {
      await using logged = await openLogged();
      await using hub = await openHub({ it: { ...logged.entry, isolation } });
      await add(hub, "it", { caller: "a" });
      await hub.connect("it");
      await hub.disconnect("it");
      expect(logged.pids().filter(isAlive)).toEqual([]);
      const sleeping = failure(call(hub, "it", "sleep", { ms: 60_000 }, { caller: "a" }));
      await until(() => logged.heard().some(({ params }) => params?.["name"] === "sleep"), "it sleeps");
      await hub.disable("it");
      expect((await sleeping).code).toBe("connection-lost");
      expect(logged.pids().filter(isAlive)).toEqual([]);
      for (const caller of ["a", "c", undefined])
        expect(await failure(add(hub, "it", { caller }))).toMatchObject({ code: "server-disabled" });
      hub.enable("it");
      expect(await add(hub, "it", { caller: "a" })).toBe(sum);
      const last = failure(call(hub, "it", "sleep", { ms: 60_000 }, { caller: "a" }));
      await until(
        () => logged.heard().filter(({ params }) => params?.["name"] === "sleep").length === 2,
        "it sleeps",
      );
      await hub.close();
      expect((await last).code).toBe("connection-lost");
      expect(logged.pids().filter(isAlive)).toEqual([]);
    },
  );

  it("isolation call over HTTP leaves no socket behind when the hub is closed during a call", async ({
    expect,
  }) => {
    await using fake = await openFake();
    await using hub = await openHub({ it: { url: fake.url, isolation: "call" } });
    const sleeping = failure(call(hub, "it", "sleep", { ms: 60_000 }));
    await until(() => fake.received.some(({ message }) => message?.["method"] === "tools/call"), "it sleeps");
    await hub.close();
    expect((await sleeping).code).toBe("connection-lost");
    await until(() => fake.connections === 0, "no socket is left");
  });
});

describe.concurrent("M30 sandbox state", () => {
  const declares: Script = {
    capabilities: { tools: {}, experimental: { "codex/sandbox-state": { version: "1.0.0" } } },
  };
  const method = "codex/sandbox-state/update";

  it.for(["legacy", "modern"] as const)(
    "%s servers that declare it receive it on connect and on change, others never",
    async (versions, { expect }) => {
      await using told = await openLogged({ ...declares, versions });
      await using other = await openLogged({ versions });
      await using late = await openLogged({ ...declares, versions });
      await using hub = await openHub({ told: told.entry, other: other.entry, late: late.entry });
      await Promise.all([hub.connect("told"), hub.connect("other")]);
      expect(told.heard().filter((one) => one.method === method)).toEqual([]);
      await hub.setSandboxState({ mode: "read-only" });
      await add(hub, "told");
      await hub.connect("late");
      await add(hub, "late");
      await hub.setSandboxState({ mode: "full" });
      await Promise.all(["told", "other", "late"].map((name) => add(hub, name)));
      await call(hub, "told", "crash").catch(() => undefined);
      await add(hub, "told");
      const modes = (one: typeof told) =>
        one.heard().flatMap((heard) => (heard.method === method ? [heard.params?.["mode"]] : []));
      expect(modes(told)).toEqual(["read-only", "full", "full"]);
      expect(modes(late)).toEqual(["read-only", "full"]);
      expect(modes(other)).toEqual([]);
    },
  );

  it("the server's own capabilities and extensions are in the status unchanged", async ({ expect }) => {
    const capabilities = {
      tools: {},
      experimental: { "acme/thing": { deep: [1, { a: null }] } },
      extensions: { "io.x/y": {} },
    };
    await using hub = await openHub(
      { it: inProcessFake({ capabilities }) },
      { capabilities: { experimental: { mine: {} } } },
    );
    await hub.connect("it");
    expect(report(hub, "it").capabilities).toEqual(capabilities);
  });
});

describe("M27 closing", () => {
  it("ends pending starts and waits, and rejects everything afterwards", async () => {
    await using hanging = await openLogged(hangs);
    const hub = await openHub({ hanging: hanging.entry, waiting: fakeStdio(exits) }, { random: () => 1 });
    const starting = failure(hub.connect("hanging"));
    await failure(hub.connect("waiting"));
    const waiting = failure(add(hub, "waiting"));
    await until(() => hanging.starts() === 1, "the process is there");
    await hub.close();
    expect(await starting).toMatchObject({ code: "connection-lost" });
    expect(await waiting).toMatchObject({ code: "connection-lost" });
    expect(hanging.pids().filter(isAlive)).toEqual([]);
    expect(await failure(add(hub, "hanging"))).toMatchObject({ code: "connection-lost" });
    expect(await failure(hub.add("new", fakeStdio()))).toMatchObject({ code: "connection-lost" });
    await hub.close();
  });

  it("leaves no process, timer or socket", async () => {
    const before = resources();
    await using fake = await openFake();
    await using stdio = await openLogged();
    await using stubborn = await openLogged({ ignores: ["eof"] });
    {
      await using hub = await openHub({
        stdio: { ...stdio.entry, lazy: false },
        stubborn: stubborn.entry,
        modern: { url: fake.url },
        legacy: { url: fake.url, protocol: "legacy" },
        sse: { type: "sse", url: fake.sseUrl },
        here: inProcessFake({}),
        broken: { ...fakeStdio(exits), lazy: false },
        hanging: { ...fakeStdio(hangs), lazy: false },
        nowhere: { url: "http://127.0.0.1:9/mcp", lazy: false },
        each: { ...stdio.entry, isolation: "call" },
      });
      const names = ["stdio", "stubborn", "modern", "legacy", "sse", "here", "each"];
      for (const name of names) expect(await add(hub, name)).toBe(sum);
      void failure(call(hub, "modern", "sleep", { ms: 60_000 }));
    }
    expect([...stdio.pids(), ...stubborn.pids()].filter(isAlive)).toEqual([]);
    await fake.close();
    const left = () => leftSince(before);
    await until(() => left().length === 0, "nothing is left", 20_000).catch(() => expect(left()).toEqual([]));
  });

  const kinds = new Set(["Timeout", "TCPSocketWrap", "ProcessWrap", "PipeWrap", "TCPServerWrap"]);

  /** The resources that keep a process alive; the test runner has its own. */
  function resources(): string[] {
    return process.getActiveResourcesInfo().filter((kind) => kinds.has(kind));
  }

  function leftSince(before: readonly string[]): string[] {
    const rest = [...before];
    return resources().filter(
      (kind) => !rest.includes(kind) || rest.splice(rest.indexOf(kind), 1).length === 0,
    );
  }
});
