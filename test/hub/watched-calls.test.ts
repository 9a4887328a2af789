import { describe, expect, it, vi } from "vitest";
import type { Hub, HubOptions, PlugboardEvent } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { openHub } from "../servers/hub-fixture.ts";

const key = "a-key-that-only-the-server-has";

async function open(options: HubOptions, settings: object = {}) {
  const hub = await openHub({ it: { ...fakeStdio(), env: { TOKEN: key } } }, options, settings);
  const seen: PlugboardEvent[] = [];
  const reading = (async () => {
    for await (const event of hub.events()) seen.push(event);
  })();
  return {
    hub,
    seen,
    of: <T extends PlugboardEvent["type"]>(type: T) =>
      seen.filter((event): event is Extract<PlugboardEvent, { type: T }> => event.type === type),
    async [Symbol.asyncDispose]() {
      await hub.close();
      await reading;
    },
  };
}

const waiting = (hub: Hub) =>
  vi.waitFor(async () => {
    const [first] = await hub.approvals.waiting();
    if (!first) throw new Error("nothing waits");
    return first;
  });

describe("M65 the arguments of calls in events", () => {
  it("are there only if the hub was asked for them", async () => {
    await using it = await open({});
    await it.hub.callTool("it.echo", { text: "hi" });
    expect(it.of("call-start")).toEqual([expect.not.objectContaining({ arguments: expect.anything() })]);
  });

  it("are cut and have no secrets, for calls and for forwarded calls", async () => {
    await using it = await open({ events: { arguments: true } });
    await it.hub.connect("it");
    const args = { text: `use ${key}`, password: "hunter2", long: "x".repeat(100_000) };
    await it.hub.callTool("it.echo", args);
    await it.hub.forwardCall("it.echo", { name: "echo", arguments: args });
    await it.hub.forwardCall("it.echo", { name: "echo" });
    const shown = { text: "use (hidden)", password: "(hidden)", long: expect.stringMatching(/^x+… \(/) };
    const [call, forwarded, empty] = it.of("call-start");
    expect(call?.arguments).toEqual(shown);
    expect(forwarded?.arguments).toEqual(shown);
    expect(empty).not.toHaveProperty("arguments");
  });

  it("hide what is written in the entry of a server that is not connected yet", async () => {
    await using it = await open({ events: { arguments: true } });
    await it.hub.tools();
    await it.hub.disconnect("it");
    await it.hub.callTool("it.echo", { text: key });
    expect(JSON.stringify(it.seen)).not.toContain(key);
  });
});

describe("M65 the events of an approval", () => {
  const settings = { approval: "prompt" };

  it("tell who is asked about which tool, what is remembered and what is revoked", async () => {
    const approve = async () => ({ decision: "allow", remember: "session" }) as const;
    await using it = await open({ interact: { approve } }, settings);
    const view = it.hub.view({ caller: "alice" });
    const others: string[] = [];
    it.hub.view({ caller: "bob" }).on("approval-remembered", ({ type }) => others.push(type));
    await view.callTool("it.echo");
    await it.hub.approvals.revoke({ server: "it" });
    await it.hub.close();
    const about = { server: "it", tool: "mcp__it__echo", caller: "alice" };
    expect(it.of("question-asked")).toMatchObject([{ kind: "approve", ...about }]);
    expect(it.of("question-answered")).toMatchObject([{ decision: "allow", remembered: "session" }]);
    const [remembered] = it.of("approval-remembered");
    expect(remembered).toMatchObject({ ...about, remembered: "session" });
    expect(it.of("approval-revoked")).toMatchObject([{ ...about, approval: remembered?.approval }]);
    expect(others).toEqual([]);
  });

  it("tell that a call waits, and what became of it", async () => {
    await using it = await open({}, { ...settings, approvals: { queue: true } });
    const allowed = it.hub.callTool("it.echo");
    await it.hub.approvals.answer((await waiting(it.hub)).id, { decision: "allow" });
    await allowed;
    const denied = it.hub.callTool("it.echo").catch(() => undefined);
    await it.hub.approvals.answer((await waiting(it.hub)).id, { decision: "deny" });
    await denied;
    const stop = new AbortController();
    const given = it.hub.callTool("it.echo", {}, { signal: stop.signal }).catch(() => undefined);
    await waiting(it.hub);
    stop.abort();
    await given;
    await it.hub.close();
    const parked = it.of("approval-parked");
    expect(parked).toHaveLength(3);
    expect(parked[0]).toMatchObject({ server: "it", tool: "mcp__it__echo", expiresAt: expect.any(Number) });
    const settled = it.of("approval-settled").map(({ question, state }) => [question, state]);
    const states = ["approved", "denied", "gone"];
    expect(settled).toEqual(parked.map(({ question }, index) => [question, states[index]]));
  });

  it("do not say that a question is over when its caller only leaves", async () => {
    await using it = await open({}, { ...settings, approvals: { queue: true } });
    const call = it.hub.callTool("it.echo", {}, { parking: { leaveAfterMs: 0 } });
    await expect(call).rejects.toMatchObject({ code: "approval-pending" });
    await it.hub.close();
    expect(it.of("question-answered")).toMatchObject([{ outcome: "waiting" }]);
  });
});
