import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createGateway, servingOptions } from "../../src/gateway/index.ts";
import { createHub } from "../../src/index.ts";
import type { Hub } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";

const token = "a-long-and-random-text";
const headers = { Authorization: `Bearer ${token}` };

/** A gateway before a server of its own, over HTTP. */
async function openGateway() {
  const hub = await createHub({ servers: { own: fakeStdio() } }, servingOptions);
  const lines: string[] = [];
  const gateway = createGateway(hub, { token, onLog: (line) => lines.push(line) });
  onTestFinished(async () => {
    await gateway.close({ drainMs: 0 });
    await hub.close();
  });
  return { hub, lines, url: (await gateway.listen()).url };
}

const stateOf = (hub: Hub, name: string) => hub.status().find((one) => one.name === name)?.state;
const toolNames = async (hub: Hub) => (await hub.tools()).map(({ id }) => id);

describe("M80 gateways that are servers of each other", () => {
  it("are taken apart, also around a corner, and keep their own servers", async () => {
    const gateways = [await openGateway(), await openGateway(), await openGateway()] as const;
    const [first, second, third] = gateways;
    await first.hub.add("next", { url: second.url, headers });
    await second.hub.add("next", { url: third.url, headers });
    await third.hub.add("next", { url: first.url, headers });
    const off = () => gateways.filter(({ hub }) => stateOf(hub, "next") === "disabled");
    await vi.waitFor(() => expect(off().length).toBeGreaterThan(0), { timeout: 40_000 });
    const [cut] = off();
    expect(cut?.lines.join("\n")).toContain(
      "next: switched off, because it is a gateway that has this one among its",
    );
    const own = (await first.hub.view({ servers: ["own"] }).tools()).length;
    for (const { hub } of gateways) {
      // What went around before it was noticed goes away: each tool comes at most once from each gateway.
      const isSettled = async () => expect((await toolNames(hub)).length).toBeLessThanOrEqual(3 * own);
      await vi.waitFor(isSettled, { timeout: 40_000, interval: 100 });
      expect(await toolNames(hub)).toContain("mcp__own__echo");
    }
  });

  it("may be chained", async () => {
    const [first, second] = [await openGateway(), await openGateway()];
    await first.hub.add("next", { url: second.url, headers });
    await vi.waitFor(async () => expect(stateOf(first.hub, "next")).toBe("connected"), { timeout: 40_000 });
    const names = await toolNames(first.hub);
    expect(names.some((name) => name.startsWith("mcp__next__own_echo"))).toBe(true);
    expect(first.lines).toEqual([]);
  });
});
