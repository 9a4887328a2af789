import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { inProcessFake } from "../servers/hub-fixture.ts";
import { ListServer, hubOf, named, object } from "./list-server.ts";

const many = named(...Array.from({ length: 10_000 }, (_, index) => `tool_${index}`));

describe("ten thousand tools on one server", () => {
  it("are listed, filtered and called", async () => {
    const server = inProcessFake({
      tools: [...many, { name: "echo", inputSchema: object }],
      pageSize: 1_000,
    });
    const hub = await hubOf(
      { it: server },
      {},
      { bundles: { few: { servers: ["it"], tools: { deny: ["tool_1*"] } } } },
    );
    expect(await hub.tools()).toHaveLength(10_001);
    expect(await hub.view({ bundle: "few" }).tools()).toHaveLength(10_001 - 1_111);
    expect((await hub.callTool("it.echo", { x: 1 })).structuredContent).toEqual({ x: 1 });
  });

  it("do not block other work while they are judged, and are never visible in part", async () => {
    const server = new ListServer({ tools: many });
    const hub = await hubOf({ it: server.entry });
    await hub.connect("it");
    const seen = new Set<number>();
    let turns = 0;
    const over = new AbortController();
    const look = async () => {
      while (!over.signal.aborted) {
        turns++;
        seen.add((await hub.tools({ wait: false })).length);
        await setImmediate();
      }
    };
    const looked = setImmediate().then(look);
    const found = hub.callTool("mcp__it__tool_7");
    await hub.tools();
    over.abort();
    await looked;
    expect((await found).isError).toBeFalsy();
    expect(turns).toBeGreaterThan(2);
    expect([...seen].filter((count) => count !== 0 && count !== 10_000)).toEqual([]);
    expect(server.count("tools/list")).toBe(1);
  });

  it("are read again in the next run if they are too large to save", async () => {
    const store = createMemoryStore();
    const large = many.slice(0, 100).map((tool) => ({ ...tool, description: "d".repeat(100_000) }));
    const server = new ListServer({ tools: large });
    const first = await hubOf({ it: server.entry }, { store });
    await first.tools();
    await first.close();
    const second = await hubOf({ it: server.entry }, { store });
    expect(await second.tools({ wait: false })).toEqual([]);
    expect(await second.tools()).toHaveLength(100);
  });
});
