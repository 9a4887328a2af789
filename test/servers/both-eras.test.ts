import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { Script, Step } from "../fixtures/fake/index.ts";
import { call, openFolder, openHub, openLogged, report, type Servers, sum } from "./hub-fixture.ts";
import { programPath } from "./stdio-fixture.ts";

const discover = { method: "server/discover" };
const initialize = { method: "initialize" };
/** A program with words of its own seems to be up, so it gets `initialize` behind a probe that it has not read yet. */
const words: Step = { raw: "starting\n", to: "stderr" };
const discovered: Step = { answer: { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } } };
const slowly: Step[] = [words, { delayMs: 4_000 }];

/** Serves both eras, and after `initialize` only the legacy one, like the SDK's servers. */
function bilingual(start: Step[], steps: { discover?: Step[]; initialize?: Step[] } = {}): Script {
  const pin: Step = { set: { versions: "legacy" } };
  return {
    start,
    on: [
      { when: discover, do: steps.discover ?? [{ default: true }] },
      { when: initialize, do: [...(steps.initialize ?? []), { default: true }, pin] },
    ],
  };
}

/** Connects, calls a tool and reads a list, which both eras answer. */
async function meet(servers: Servers, store = createMemoryStore(), [tool, answer] = ["add", sum]) {
  await using hub = await openHub(servers, { store });
  const said = await call(hub, "it", tool, tool === "add" ? { a: 2, b: 3 } : {});
  if (said !== answer) throw new Error(`unexpected answer: ${said}`);
  await hub.request("tools/list", {}, { server: "it" });
  const { era, state, error } = report(hub, "it");
  return { era, state, error };
}

const greetings = (heard: { method?: string }[]) =>
  heard.flatMap(({ method = "" }) => (/^(?:server\/discover|initialize)$/.test(method) ? [method] : []));

const handshake = ["server/discover", "initialize"];

const modern = { era: "modern", state: "connected", error: undefined };
const legacy = { ...modern, era: "legacy" };

describe.concurrent("M21 a program that serves both eras", () => {
  it("is asked for nothing but `server/discover` while it starts in silence", async ({ expect }) => {
    await using logged = await openLogged(bilingual([{ delayMs: 3_000 }]));
    expect(await meet({ it: logged.entry })).toEqual(modern);
    expect(greetings(logged.heard())).toEqual(["server/discover"]);
    expect(logged.starts()).toBe(1);
  });

  const scripts: [string, Script][] = [
    ["both in order", bilingual(slowly)],
    ["`initialize` some time after the probe", bilingual(slowly, { initialize: [{ delayMs: 200 }] })],
    ["the probe after `initialize`", bilingual(slowly, { discover: [{ delayMs: 200 }, discovered] })],
    ["only the probe, and is silent on `initialize`", { start: slowly, on: [{ when: initialize, do: [] }] }],
    [
      "only the probe, and exits on `initialize`",
      { start: slowly, on: [{ when: initialize, do: [{ delayMs: 200 }, { exit: 1 }] }] },
    ],
  ];
  it.for(scripts)("is modern in every run if it answers %s", async ([, script], { expect }) => {
    await using logged = await openLogged(script);
    const store = createMemoryStore();
    for (let run = 1; run <= 2; run++) expect(await meet({ it: logged.entry }, store)).toEqual(modern);
    // The second run remembers, so it starts the program once and probes it with more patience.
    expect(greetings(logged.heard()).at(-1)).toBe("server/discover");
    expect(logged.starts()).toBe(3);
  });

  it("is used as legacy, and remembered as modern, if there is no time to start it again", async ({
    expect,
  }) => {
    await using logged = await openLogged(bilingual([], { discover: [{ waitFor: initialize }, discovered] }));
    const store = createMemoryStore();
    const it = { ...logged.entry, startupTimeoutMs: 4_000 };
    for (let run = 1; run <= 2; run++) expect(await meet({ it }, store)).toEqual(legacy);
    expect(logged.starts()).toBe(2);
    // A server that is remembered as legacy is not probed.
    expect(greetings(logged.heard())).toEqual([...handshake, ...handshake]);
  });
});

describe.concurrent("M21 a program that ignores `server/discover` still starts", () => {
  const deaf: Script = { versions: "legacy", on: [{ when: discover, do: [] }] };

  it("after half of the start deadline if it says nothing", async ({ expect }) => {
    await using logged = await openLogged(deaf);
    expect(await meet({ it: { ...logged.entry, startupTimeoutMs: 4_000 } })).toEqual(legacy);
    expect(logged.starts()).toBe(1);
  });

  it.for(["stderr", "output"] as const)("soon after its words on %s", async (to, { expect }) => {
    await using logged = await openLogged({ ...deaf, start: [{ raw: "ready\n", to }] });
    await using hub = await openHub({ it: { ...logged.entry, startupTimeoutMs: 600_000 } });
    await hub.connect("it");
    expect(report(hub, "it")).toMatchObject({ era: "legacy", eraBasis: "silence" });
  });
});

describe.concurrent("M21 servers of the official SDKs that start slowly", () => {
  const cases = (["v1", "v2"] as const).flatMap((sdk) =>
    [0, 3_000].flatMap((delayMs) => ["", "starting"].map((said) => ({ sdk, delayMs, said }))),
  );
  it.for(cases)("$sdk after $delayMs ms, saying '$said'", async ({ sdk, delayMs, said }, { expect }) => {
    await using folder = await openFolder();
    const HEARD = join(folder.path, "heard");
    const args = [programPath("sdk-server.mjs"), sdk, String(delayMs), said];
    const servers = { it: { command: process.execPath, args, env: { HEARD } } };
    const store = createMemoryStore();
    const expected = sdk === "v1" ? legacy : modern;
    for (let run = 1; run <= 2; run++)
      expect(await meet(servers, store, ["greet", "hello"])).toEqual(expected);
    const heard = readFileSync(HEARD, "utf8").trim().split("\n");
    const last = heard.filter((line) => line.startsWith(`${heard.at(-1)?.split(" ")[0]} `));
    const other = sdk === "v1" ? "server/discover" : "initialize";
    expect(last.map((line) => line.split(" ")[1])).not.toContain(other);
  });
});
