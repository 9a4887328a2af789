import { describe, it, vi } from "vitest";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { Script, Step } from "../fixtures/fake/index.ts";
import { add, call, failure, openFake, openHub, openLogged, reached, report, sum } from "./hub-fixture.ts";

const soon = { random: () => 0 };
const patient = { timeout: 25_000 };
const outage: Step = { http: { status: 500, contentType: "text/html", body: "<h1>Oops</h1>" } };
const eras = ["legacy", "modern"] as const;

describe.concurrent("M21 a server that changes its era in the middle is met anew", () => {
  const ways: [from: (typeof eras)[number], to: Script][] = [
    ["modern", { versions: "legacy" }],
    ["modern", { versions: "legacy", sessions: false }],
    ["legacy", { versions: "modern" }],
  ];
  it.for(ways)("from %s to %o, and back; no call is lost", async ([from, to], { expect }) => {
    await using fake = await openFake({ versions: from });
    await using hub = await openHub({ it: { url: fake.url } });
    const before = { versions: from, sessions: true };
    for (const [now, script] of [
      [from, before],
      [to.versions, to],
      [from, before],
    ] as const) {
      fake.set(script);
      const sums = await Promise.all(Array.from({ length: 5 }, () => add(hub, "it")));
      expect(new Set(sums)).toEqual(new Set([sum]));
      expect(report(hub, "it").era).toBe(now);
    }
  });

  it.for(eras)(
    "also when nobody uses it: its push stream notices that it is no longer %s",
    async (from, { expect }) => {
      await using fake = await openFake({ versions: from, retryMs: 100 });
      await using hub = await openHub({ it: { url: fake.url, lazy: false } }, soon);
      const heard = vi.fn();
      hub.on("catalog-changed", heard);
      await vi.waitFor(async () => {
        await fake.notify({ method: "notifications/tools/list_changed" });
        expect(heard).toHaveBeenCalled();
      }, patient);
      fake.set({ versions: from === "legacy" ? "modern" : "legacy" });
      await fake.restart();
      await vi.waitFor(
        () => expect(report(hub, "it").era).toBe(from === "legacy" ? "modern" : "legacy"),
        patient,
      );
    },
  );

  it("but not for any error: a modern server that complains about a session of its own is asked once", async ({
    expect,
  }) => {
    const complains = { error: { code: -32_000, message: "Your shopping session has expired" } };
    await using fake = await openFake({
      versions: "modern",
      on: [{ when: { tool: "echo" }, do: [complains] }],
    });
    await using hub = await openHub({ it: { url: fake.url } });
    expect((await failure(call(hub, "it", "echo"))).message).toContain("shopping session");
    expect(report(hub, "it")).toMatchObject({ era: "modern", counts: { starts: 1 } });
  });

  it("a remembered legacy server that refuses `initialize` for whatever reason is asked what it is", async ({
    expect,
  }) => {
    const store = createMemoryStore();
    await using fake = await openFake({ versions: "legacy" });
    for (const [script, era] of [
      [{}, "legacy"],
      [
        { versions: "modern", on: [refuses({ error: { code: -32_602, message: "Invalid params" } })] },
        "modern",
      ],
      [{ versions: "legacy", on: [] }, "legacy"],
      [{ versions: "modern", on: [refuses({ http: { status: 405 } })] }, "modern"],
    ] as const) {
      fake.set(script as Partial<Script>);
      await using hub = await openHub({ it: { url: fake.url } }, { store });
      expect(await add(hub, "it")).toBe(sum);
      expect(report(hub, "it").era).toBe(era);
    }
  });

  it("an outage during the probe is no evidence: the server is asked again the next time", async ({
    expect,
  }) => {
    const store = createMemoryStore();
    const trouble: Step[] = [
      outage,
      { error: { code: -32_603, message: "Internal error" } },
      { drop: "reset" },
    ];
    for (const step of trouble) {
      const on = [{ when: { method: "server/discover", nth: 1 }, do: [step] }];
      await using fake = await openFake({ versions: "both", on });
      for (const era of ["legacy", "modern"]) {
        await using hub = await openHub({ it: { url: fake.url } }, { store });
        expect(await add(hub, "it")).toBe(sum);
        expect(report(hub, "it").era).toBe(era);
      }
    }
  });
});

function refuses(step: Step) {
  return { when: { method: "initialize" }, do: [step] };
}

describe.concurrent("M24 a passing fault", () => {
  it.for(eras)("of a few 500s does not switch an eager %s server off", async (versions, { expect }) => {
    const on = [{ when: { http: "POST" as const, nth: [1, 2, 3, 4] }, do: [outage] }];
    await using fake = await openFake({ versions, on });
    await using hub = await openHub({ it: { url: fake.url, lazy: false } }, soon);
    await reached(hub, "it", "connected");
    expect(await add(hub, "it")).toBe(sum);
  });
});

/** From the first `echo` on it answers nothing but what is allowed. */
function fallsSilent(versions: "legacy" | "modern", ...answers: string[]): Script {
  const allowed = answers.map((method) => ({ when: { method }, do: [{ default: true as const }] }));
  const then = { on: [...allowed, { when: {}, do: [] }] };
  return { versions, on: [{ when: { tool: "echo" }, do: [{ set: then }] }] };
}

describe.concurrent("M24 a program that lets three calls in a row time out", () => {
  it.for(eras)("is asked, and replaced if it stays silent (%s)", async (versions, { expect }) => {
    await using logged = await openLogged(fallsSilent(versions));
    await using hub = await openHub({ it: { ...logged.entry, callTimeoutMs: 300 } });
    for (const tool of ["echo", "add", "add"])
      expect((await failure(call(hub, "it", tool))).code).toBe("call-timeout");
    await reached(hub, "it", "waiting");
    expect(report(hub, "it").message).toContain("replaced");
    const asked = versions === "legacy" ? "ping" : "server/discover";
    expect(logged.heard().findLast(({ id }) => id !== undefined)?.method).toBe(asked);
    expect(await add(hub, "it", { timeoutMs: 20_000 })).toBe(sum);
    const [old, next] = logged.pids();
    await vi.waitFor(() => expect([isAlive(old!), isAlive(next!)]).toEqual([false, true]), patient);
  });

  it("stays if it answers the question", async ({ expect }) => {
    await using logged = await openLogged(fallsSilent("legacy", "ping"));
    await using hub = await openHub({ it: { ...logged.entry, callTimeoutMs: 300 } });
    for (const tool of ["echo", "add", "add"]) await failure(call(hub, "it", tool));
    await vi.waitFor(
      () => expect(logged.heard().filter(({ method }) => method === "ping")).toHaveLength(1),
      patient,
    );
    for (const tool of ["add", "add"]) await failure(call(hub, "it", tool));
    expect(logged.starts()).toBe(1);
  });

  it("may finish what others wait for; new calls go to the new one", async ({ expect }) => {
    await using logged = await openLogged(fallsSilent("legacy"));
    await using hub = await openHub({ it: { ...logged.entry, callTimeoutMs: 300 } });
    await hub.tools();
    const other = call(hub, "it", "sleep", { ms: 5_000 }, { timeoutMs: 30_000 });
    for (const tool of ["echo", "add", "add"]) await failure(call(hub, "it", tool));
    await reached(hub, "it", "waiting");
    expect(await add(hub, "it", { timeoutMs: 20_000 })).toBe(sum);
    expect(isAlive(logged.pids()[0]!)).toBe(true);
    expect(await other).toBe("slept 5000 ms");
    await vi.waitFor(() => expect(isAlive(logged.pids()[0]!)).toBe(false), patient);
  });
});

describe.concurrent("M24 a lost session told as a success", () => {
  it.for([
    [-32_600, "Session not found"],
    [-32_600, "Invalid Request: invalid session ID"],
    [-32_600, "Bad Request: No valid session ID provided"],
    [-32_600, "Session expired"],
    [-32_001, "Session terminated"],
  ] as const)("with %i %s is repaired", async ([code, message], { expect }) => {
    const on = [{ when: { tool: "add", nth: 2 }, do: [{ error: { code, message } }] }];
    await using fake = await openFake({ versions: "legacy", on });
    await using hub = await openHub({ it: { url: fake.url } });
    expect([await add(hub, "it"), await add(hub, "it")]).toEqual([sum, sum]);
    const sent = (method: string) => fake.received.filter((one) => one.message?.["method"] === method).length;
    expect([sent("initialize"), sent("tools/call")]).toEqual([2, 3]);
  });

  it.for([
    [-32_600, "Your session with the database has ended"],
    [-32_000, "Session not found"],
    [-32_602, "Session not found"],
  ] as const)("but %i %s is the server's answer", async ([code, message], { expect }) => {
    const on = [{ when: { tool: "add" }, do: [{ error: { code, message } }] }];
    await using fake = await openFake({ versions: "legacy", on });
    await using hub = await openHub({ it: { url: fake.url } });
    expect((await failure(add(hub, "it"))).message).toContain(message);
    expect(fake.received.filter((one) => one.message?.["method"] === "tools/call")).toHaveLength(1);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("M24 an answer that looks like another server's", () => {
  it("is looked at again, slowly, where the server is kept up by itself", async ({ expect }) => {
    await using fake = await openFake({
      on: [{ when: {}, do: [{ http: { status: 404, body: "no such app" } }] }],
    });
    const now = { value: Date.now() };
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      await using hub = await openHub({ it: { url: fake.url, lazy: false } }, { clock: () => now.value });
      await reached(hub, "it", "failed");
      fake.set({ on: [] });
      now.value += 60_000;
      await vi.advanceTimersByTimeAsync(60_000);
      await reached(hub, "it", "connected");
      expect(report(hub, "it").counts.starts).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });
});
