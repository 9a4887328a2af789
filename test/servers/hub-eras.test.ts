import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ServerConfig } from "../../src/index.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { fakeStdio, LEGACY_REVISIONS, type Script, type Step } from "../fixtures/fake/index.ts";
import {
  add,
  failure,
  inProcessFake,
  openFake,
  openFolder,
  openHub,
  openLogged,
  report,
  type Servers,
  sum,
  toolNames,
} from "./hub-fixture.ts";

type Kind = "stdio" | "http" | "sse" | "sse by fallback" | "in-process";

const kinds: Kind[] = ["stdio", "http", "sse", "sse by fallback", "in-process"];
const cases = [
  ...LEGACY_REVISIONS.flatMap((version) => kinds.map((kind) => ({ version, kind, era: "legacy" as const }))),
  ...(["stdio", "http", "in-process"] as const).map((kind) => ({
    version: "2026-07-28",
    kind,
    era: "modern" as const,
  })),
];

/** A server of that kind with this script, as a hub's only server `it`. */
async function serve(kind: Kind, script: Script): Promise<{ servers: Servers } & AsyncDisposable> {
  const nothing = { [Symbol.asyncDispose]: async () => {} };
  if (kind === "stdio") return { servers: { it: fakeStdio(script) }, ...nothing };
  if (kind === "in-process") return { servers: { it: inProcessFake(script) }, ...nothing };
  const fake = await openFake(script);
  const { url, sseUrl } = fake;
  const entry: ServerConfig =
    kind === "http" ? { url } : kind === "sse" ? { type: "sse", url: sseUrl } : { url: sseUrl };
  return { servers: { it: entry }, [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose]() };
}

async function meet(servers: Servers, options = {}) {
  await using hub = await openHub(servers, options);
  expect(await toolNames(hub, "it")).toContain("add");
  expect(await add(hub, "it")).toBe(sum);
  return report(hub, "it");
}

describe.concurrent("M20 M21 every revision over every transport", () => {
  it.for(cases)("$version over $kind lists, calls and is named in the status", async (one, { expect }) => {
    const { version, kind, era } = one;
    await using served = await serve(kind, { versions: [version] });
    const { state, transport, ...rest } = await meet(served.servers);
    expect({ state, era: rest.era, version: rest.protocolVersion }).toEqual({
      state: "connected",
      era,
      version,
    });
    expect(transport).toBe(kind === "sse by fallback" ? "sse" : kind === "in-process" ? "memory" : kind);
    expect(rest.serverInfo).toMatchObject({ name: "fake" });
    expect(rest.capabilities).toHaveProperty("tools");
  });
});

const probe = (...steps: Step[]): Script => ({
  versions: "legacy",
  on: [{ when: { method: "server/discover" }, do: steps }],
});

const odd: Record<string, Step[]> = {
  "-32601": [{ error: { code: -32601, message: "Method not found" } }],
  "-32602": [{ error: { code: -32602, message: "Invalid params" } }],
  "-32000": [{ error: { code: -32000, message: "Server not initialized" } }],
  "-32603": [{ error: { code: -32603, message: "boom" } }],
  "an error code of its own": [{ error: { code: 17, message: "?" } }],
  "-32022 naming only older revisions": [
    { error: { code: -32022, message: "Unsupported", data: { supported: ["2025-06-18"] } } },
  ],
  "a result that is none": [{ answer: { hello: "world" } }],
  "a result without capabilities": [{ answer: { supportedVersions: ["2026-07-28"] } }],
  "a result with another revision": [{ answer: { supportedVersions: ["2099-01-01"], capabilities: {} } }],
};

describe.concurrent("M21 a legacy server with an unusual answer to the probe gets initialize", () => {
  for (const kind of ["stdio", "http", "in-process"] as const)
    it.for(Object.entries(odd))(`${kind}: %s`, async ([, steps], { expect }) => {
      await using served = await serve(kind, probe(...steps));
      expect(await meet(served.servers)).toMatchObject({ era: "legacy", protocolVersion: "2025-11-25" });
    });

  it.for([500, 502, 503, 504, 400, 404, 405, 501])("HTTP %i for the probe", async (status, { expect }) => {
    await using fake = await openFake(probe({ http: { status, body: "no" } }));
    expect(await meet({ it: { url: fake.url } })).toMatchObject({ era: "legacy", transport: "http" });
  });

  it("a connection that is closed on the probe", async ({ expect }) => {
    await using fake = await openFake(probe({ drop: "reset" }));
    expect(await meet({ it: { url: fake.url } })).toMatchObject({ era: "legacy" });
  });

  it("a program that exits on the probe is started again, and next time without the probe", async ({
    expect,
  }) => {
    await using logged = await openLogged(probe({ exit: 3 }));
    const store = createMemoryStore();
    expect(await meet({ it: logged.entry }, { store })).toMatchObject({ era: "legacy" });
    expect(logged.starts()).toBe(2);
    expect(await meet({ it: logged.entry }, { store })).toMatchObject({ era: "legacy" });
    expect(logged.starts()).toBe(3);
    expect(logged.heard().filter(({ method }) => method === "server/discover")).toHaveLength(1);
  });

  it("reports both errors if initialize fails too, and equal ones once", async ({ expect }) => {
    await using fake = await openFake({
      on: [
        { when: { method: "server/discover", nth: 1 }, do: [{ http: { status: 501 } }] },
        { when: { http: "POST" }, do: [{ http: { status: 500 } }] },
      ],
    });
    await using hub = await openHub({ it: { url: fake.url } });
    const error = await failure(hub.connect("it"));
    expect(error).toMatchObject({ code: "unexpected-response", server: "it" });
    expect(error.message).toMatch(/HTTP 500.*Before that.*HTTP 501/);
    await hub.disconnect("it");
    expect((await failure(hub.connect("it"))).message.match(/HTTP 500/g)).toHaveLength(1);
  });
});

describe.concurrent("M21 a modern server whose answer to the probe is lost is asked again", () => {
  const lost: [string, Step][] = [
    ["a connection that breaks", { drop: "reset" }],
    ["HTTP 502", { http: { status: 502, body: "no" } }],
  ];
  it.for(lost)("%s", async ([, step], { expect }) => {
    await using fake = await openFake({
      versions: ["2026-07-28"],
      on: [{ when: { method: "server/discover", nth: 1 }, do: [step] }],
    });
    expect(await meet({ it: { url: fake.url } })).toMatchObject({ era: "modern" });
  });

  it("once: if it breaks again, both reasons are told", async ({ expect }) => {
    await using fake = await openFake({
      versions: ["2026-07-28"],
      on: [{ when: { method: "server/discover" }, do: [{ drop: "reset" }] }],
    });
    await using hub = await openHub({ it: { url: fake.url } });
    const { message } = await failure(hub.connect("it"));
    expect(message).toMatch(/rejected `initialize`.*Before that.*broke the connection/);
    const probes = fake.received.filter(({ message: sent }) => sent?.["method"] === "server/discover");
    expect(probes).toHaveLength(2);
  });
});

describe.concurrent("M21 a silent server is distinguished from a slow one", () => {
  it("waits for a legacy program that is up and silent on the probe at most twice, ever", async ({
    expect,
  }) => {
    await using logged = await openLogged({ ...probe(), start: [{ raw: "ready\n", to: "stderr" }] });
    const store = createMemoryStore();
    const probes = () => logged.heard().filter(({ method }) => method === "server/discover").length;
    const startMs: number[] = [];
    for (let life = 1; life <= 4; life++) {
      const { era, startMs: took = 0 } = await meet({ it: logged.entry }, { store });
      expect(era).toBe("legacy");
      startMs.push(took);
    }
    expect(probes()).toBe(2);
    expect(startMs[0]).toBeGreaterThanOrEqual(1_900);
    expect(startMs[1]).toBeGreaterThan(startMs[0] ?? 0);
  });

  it("waits for a silent legacy URL at most twice too, and within its start deadline", async ({ expect }) => {
    await using fake = await openFake(probe());
    const store = createMemoryStore();
    const it = { url: fake.url, startupTimeoutMs: 4_000 };
    for (let life = 1; life <= 3; life++)
      expect(await meet({ it }, { store })).toMatchObject({ era: "legacy" });
    const probes = fake.received.filter(({ message }) => message?.["method"] === "server/discover");
    expect(probes).toHaveLength(2);
  });

  it.for(["modern", "both"] as const)(
    "a slow program that supports %s is detected as modern",
    async (versions, { expect }) => {
      const it = fakeStdio({ versions, start: [{ delayMs: 3_000 }] });
      expect(await meet({ it })).toMatchObject({ era: "modern", protocolVersion: "2026-07-28" });
    },
  );

  it("a late answer to the probe takes precedence over an earlier refusal of initialize", async ({
    expect,
  }) => {
    const it = fakeStdio({
      versions: "modern",
      on: [{ when: { method: "server/discover" }, do: [{ delayMs: 3_500 }, { default: true }] }],
    });
    expect(await meet({ it })).toMatchObject({ era: "modern" });
  });

  it("a slow modern URL is detected as modern", async ({ expect }) => {
    await using fake = await openFake({ start: [{ delayMs: 3_000 }] });
    expect(await meet({ it: { url: fake.url } })).toMatchObject({ era: "modern" });
  });

  it("reports why initialize was refused if the probe stays unanswered", async ({ expect }) => {
    const refuse: Step = { error: { code: -32000, message: "licence expired" } };
    const script: Script = {
      on: [
        { when: { method: "server/discover" }, do: [] },
        { when: { method: "initialize" }, do: [refuse] },
      ],
    };
    await using hub = await openHub({ it: { ...fakeStdio(script), startupTimeoutMs: 6_000 } });
    expect((await failure(hub.connect("it"))).message).toContain("licence expired");
  });
});

describe.concurrent("M21 an outdated memory is corrected", () => {
  it("a program that was legacy and is modern now", async ({ expect }) => {
    const store = createMemoryStore();
    await using folder = await openFolder();
    const script = join(folder.path, "script.json");
    const { command, args, env } = fakeStdio();
    const it = { command, args: [args[0] ?? "", script], env };
    for (const versions of ["legacy", "modern", "modern", "legacy", "both"] as const) {
      await writeFile(script, JSON.stringify({ versions }));
      const era = versions === "both" ? "legacy" : versions;
      expect(await meet({ it }, { store })).toMatchObject({ era });
    }
  });

  it("a URL that was legacy and is modern now, and the other way round", async ({ expect }) => {
    const store = createMemoryStore();
    await using fake = await openFake({ versions: "legacy" });
    const it = { url: fake.url };
    expect(await meet({ it }, { store })).toMatchObject({ era: "legacy" });
    fake.set({ versions: "modern" });
    expect(await meet({ it }, { store })).toMatchObject({ era: "modern" });
    expect(await meet({ it }, { store })).toMatchObject({ era: "modern" });
    fake.set({ versions: "legacy" });
    expect(await meet({ it }, { store })).toMatchObject({ era: "legacy" });
  });

  it("an in-process server does not affect the memory of another", async ({ expect }) => {
    const store = createMemoryStore();
    expect(await meet({ it: inProcessFake({ versions: "legacy" }) }, { store })).toMatchObject({
      era: "legacy",
    });
    await using hub = await openHub({ other: inProcessFake({ versions: "both" }) }, { store });
    await hub.connect("other");
    expect(report(hub, "other").era).toBe("modern");
  });

  it("a broken store does not matter", async ({ expect }) => {
    const store = createMemoryStore();
    await store.close();
    expect(await meet({ it: fakeStdio() }, { store })).toMatchObject({ era: "modern" });
  });
});

describe.concurrent("M21 `protocol` pins the era", () => {
  it("legacy: initialize only, even for a server that supports both", async ({ expect }) => {
    await using logged = await openLogged();
    const it = { ...logged.entry, protocol: "legacy" as const };
    expect(await meet({ it })).toMatchObject({ era: "legacy", protocolVersion: "2025-11-25" });
    expect(logged.heard()[0]).toMatchObject({ method: "initialize" });
    expect(logged.heard().some(({ method }) => method === "server/discover")).toBe(false);
  });

  it("modern: never initialize, and a legacy server is an error with the reason", async ({ expect }) => {
    await using fake = await openFake();
    await using logged = await openLogged({ versions: "legacy" });
    await using hub = await openHub({
      good: { url: fake.url, protocol: "modern" },
      old: { ...logged.entry, protocol: "modern" },
    });
    expect(await add(hub, "good")).toBe(sum);
    const error = await failure(hub.connect("old"));
    expect(error).toMatchObject({ code: "version-unsupported", server: "old" });
    expect(error.message).toContain("protocol");
    expect(report(hub, "old")).toMatchObject({ state: "failed", error: { code: "version-unsupported" } });
    expect(logged.heard().some(({ method }) => method === "initialize")).toBe(false);
  });

  it("legacy against a server that is modern only: says so", async ({ expect }) => {
    await using hub = await openHub({ it: { ...fakeStdio({ versions: "modern" }), protocol: "legacy" } });
    expect(await failure(hub.connect("it"))).toMatchObject({ code: "version-unsupported" });
  });

  it("an unsupported revision is named, and nothing else is tried", async ({ expect }) => {
    const future = { code: -32022, message: "Unsupported", data: { supported: ["2031-01-01"] } };
    await using logged = await openLogged({
      on: [{ when: { method: "server/discover" }, do: [{ error: future }] }],
    });
    await using hub = await openHub({ it: logged.entry });
    const error = await failure(hub.connect("it"));
    expect(error.code).toBe("version-unsupported");
    expect(error.message).toContain("2031-01-01");
    expect(logged.heard().some(({ method }) => method === "initialize")).toBe(false);
  });
});
