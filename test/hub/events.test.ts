import { describe, expect, it } from "vitest";
import type { Hub, PlugboardEvent } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { failure, inProcessFake, openFake, openHub } from "../servers/hub-fixture.ts";
import type { Servers } from "../servers/hub-fixture.ts";

type EventOf<T extends PlugboardEvent["type"]> = Extract<PlugboardEvent, { type: T }>;

/** The first event of a type for which this holds. */
function heard<T extends PlugboardEvent["type"]>(
  hub: Hub,
  type: T,
  isMeant: (event: EventOf<T>) => boolean = () => true,
): Promise<EventOf<T>> {
  return new Promise((resolve) => {
    const stop = hub.on(type, (event) => {
      if (!isMeant(event)) return;
      stop();
      resolve(event);
    });
  });
}

describe("M65 the events of a hub", () => {
  it("begin with the call of `events`, whenever somebody reads them", async () => {
    await using hub = await openHub({ it: fakeStdio({}) });
    const events = hub.events();
    await hub.callTool("it.echo");
    const types: string[] = [];
    for await (const { type } of events) {
      types.push(type);
      if (type === "call-end") break;
    }
    expect(types).toEqual(expect.arrayContaining(["connection-changed", "call-start", "call-end"]));
    await hub.callTool("it.echo");
    expect(await events.next()).toEqual({ value: undefined, done: true });
  });

  it("end with the hub, after everything that happened", async () => {
    const hub = await openHub({ it: fakeStdio({}) });
    const [early, waiting] = [hub.events(), hub.events()];
    await hub.callTool("it.echo");
    const read = async (events: AsyncIterable<PlugboardEvent>) => {
      const types: string[] = [];
      for await (const { type } of events) types.push(type);
      return types;
    };
    const reading = read(waiting);
    await hub.close();
    expect(await read(early)).toEqual(await reading);
    expect(await reading).toContain("call-end");
    expect(() => hub.events()).toThrow("The hub is closed.");
  });

  it("have one of the eight levels of the protocol for what a server logs", async () => {
    const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    const odd = ["constructor", "loud", 7];
    const say = [...levels, ...odd].map((level) => ({
      notify: { method: "notifications/message", params: { level, data: `said ${level}` } },
    }));
    const on = [{ when: { tool: "echo" }, do: [...say, { default: true as const }] }];
    await using hub = await openHub({ it: fakeStdio({ on }) });
    const told: EventOf<"server-log">[] = [];
    hub.on("server-log", (event) => told.push(event));
    const last = heard(hub, "server-log", ({ message }) => message === "said 7");
    await hub.callTool("it.echo");
    await last;
    expect(told.map(({ level }) => level)).toEqual([...levels, ...odd.map(() => "info")]);
  });

  it("tell what a running server writes to stderr, line by line and without secrets", async () => {
    const canary = "canary-0f9b1c7e";
    const raw = `first line\r\n\nthe token is ${canary}\n${"x".repeat(4_085)} ${canary} ${"y".repeat(9_000)}\nün`;
    const bytes = Buffer.from(raw);
    const steps = [
      { raw: { base64: bytes.toString("base64") }, to: "stderr" as const, chunkBytes: bytes.length - 1 },
      { default: true as const },
    ];
    const entry = {
      ...fakeStdio({ on: [{ when: { tool: "echo" }, do: steps }] }),
      env: { API_TOKEN: canary },
    };
    await using hub = await openHub({ it: entry });
    const told: EventOf<"server-log">[] = [];
    hub.on("server-log", (event) => told.push(event));
    await hub.callTool("it.echo");
    await expect.poll(() => told.length, { timeout: 20_000 }).toBe(3);
    const last = heard(hub, "server-log");
    await hub.disconnect("it");
    expect((await last).message).toBe("ün");
    expect(told[0]).toMatchObject({ server: "it", level: "info", source: "stderr", message: "first line" });
    expect(told[1]?.message).toBe("the token is (hidden)");
    expect(told[2]?.message.length).toBeLessThanOrEqual(4_096);
    expect(JSON.stringify(told)).not.toContain("canary");
  });

  it("tell of a flood on stderr without repeating it", async () => {
    const flood = { raw: { repeat: "noise\n", times: 5_000 }, to: "stderr" as const };
    const on = [{ when: { tool: "echo" }, do: [flood, { default: true as const }] }];
    await using hub = await openHub({ it: fakeStdio({ on }) });
    const told: string[] = [];
    hub.on("server-log", ({ message }) => told.push(message));
    const more = heard(hub, "server-log", ({ message }) => message.endsWith("more lines"));
    await hub.callTool("it.echo");
    await hub.disconnect("it");
    await more;
    expect(told.length).toBeLessThan(1_000);
  });

  it("tell of approvals, and how they ended", async () => {
    const interact = {
      approve: async () => ({ decision: told.length > 2 ? ("deny" as const) : ("allow" as const) }),
    };
    await using hub = await openHub({ it: { ...fakeStdio({}), approval: "prompt" } }, { interact });
    const told: PlugboardEvent[] = [];
    for (const type of ["question-asked", "question-answered"] as const)
      hub.on(type, (event) => told.push(event));
    await hub.callTool("it.echo");
    expect(await failure(hub.callTool("it.echo"))).toMatchObject({ code: "approval-denied" });
    expect(told).toMatchObject([
      { type: "question-asked", kind: "approve", server: "it", call: "c1" },
      { type: "question-answered", kind: "approve", server: "it", call: "c1", outcome: "accepted" },
      { type: "question-asked", kind: "approve", call: "c2" },
      { type: "question-answered", kind: "approve", call: "c2", outcome: "declined" },
    ]);
  });
});

describe.each(["stdio", "HTTP", "SSE", "in process"])("M65 a call over %s", (kind) => {
  async function setUp(versions: "legacy" | "modern") {
    const http = await openFake({ versions });
    const entries: Servers = {
      stdio: fakeStdio({ versions }),
      HTTP: { url: http.url },
      SSE: { type: "sse", url: http.sseUrl },
      "in process": inProcessFake({ versions: "legacy" }),
    };
    const hub = await openHub({ it: entries[kind] as Servers[string] });
    const end = async () => {
      await hub.close();
      await http[Symbol.asyncDispose]();
    };
    return { hub, [Symbol.asyncDispose]: end };
  }

  it("ends with an event that has the sizes of request and result", async () => {
    await using box = await setUp(kind === "HTTP" ? "modern" : "legacy");
    const text = "x".repeat(5_000);
    const ended = heard(box.hub, "call-end");
    await box.hub.callTool("it.echo", { text });
    const { requestBytes = 0, resultBytes = 0 } = await ended;
    expect(requestBytes).toBeGreaterThan(5_000);
    expect(requestBytes).toBeLessThan(6_000);
    expect(resultBytes).toBeGreaterThan(10_000);
    expect(resultBytes).toBeLessThan(12_000);
  });

  it("fails in the same way for arguments that JSON cannot represent, and sends nothing", async () => {
    await using box = await setUp("legacy");
    const circle: Record<string, unknown> = {};
    circle["self"] = { circle };
    let deep: object = {};
    for (let level = 0; level < 20_000; level++) deep = { deep };
    const wrong: [Record<string, unknown>, string, string][] = [
      [{ n: 1n }, "n", "it is a bigint"],
      [{ list: [1, { run: () => 1 }] }, "list.1.run", "it is a function"],
      [{ name: Symbol("x") }, "name", "it is a symbol"],
      [circle, "self.circle", "it contains itself"],
      [{ deep }, expect.stringMatching(/^deep\.deep/) as string, "it is nested too deeply"],
    ];
    for (const [args, path, message] of wrong) {
      const expected = { code: "arguments-invalid", executed: "no", data: { mistakes: [{ path, message }] } };
      expect(await failure(box.hub.callTool("it.echo", args))).toMatchObject(expected);
      expect(await failure(box.hub.forwardCall("it.echo", { arguments: args }))).toMatchObject(expected);
    }
    const fine = { when: new Date(0), none: undefined, twice: [circle["x"], circle["x"]] };
    expect((await box.hub.callTool("it.echo", fine)).structuredContent).toEqual({
      when: "1970-01-01T00:00:00.000Z",
      twice: [null, null],
    });
    const { structuredContent } = await box.hub.callTool("it.count");
    expect(structuredContent).toEqual({ total: 1, tools: { echo: 1 } });
  });
});
