import { describe, expect, it } from "vitest";
import { createHub } from "../../src/index.ts";
import type { PlugboardEvent } from "../../src/index.ts";
import { EventStream } from "../../src/lib/event-stream.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";

describe("M65 hub.events()", () => {
  it("loses nothing before it is first read, and ends with the hub", async () => {
    const hub = await createHub({ servers: { it: fakeStdio({}) } });
    const events = hub.events();
    const heard: PlugboardEvent[] = [];
    for (const type of ["connection-changed", "call-start", "call-end"] as const)
      hub.on(type, (event) => heard.push(event));
    await hub.callTool("it.add", { a: 1, b: 2 });
    await hub.close();
    const read = [];
    for await (const event of events) read.push(event);
    expect(read.filter((event) => heard.includes(event))).toEqual(heard);
    expect(heard.map(({ type }) => type)).toContain("call-end");
  });

  it("keeps the last ten thousand for a reader that is slow", async () => {
    const stream = new EventStream<number>();
    const events = stream.read();
    for (let event = 0; event < 10_005; event++) stream.emit(event);
    expect(await events.next()).toEqual({ value: 5 });
  });

  it("can be left while it waits, and has no listener then", async () => {
    const stream = new EventStream<number>();
    const events = stream.read();
    const next = events.next();
    await events.return?.();
    expect([await next, await events.next(), stream.hasListeners]).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
      false,
    ]);
    stream.close();
    expect(await stream.read().next()).toMatchObject({ done: true });
  });
});

describe("M65 a server's log", () => {
  it("has one of the eight levels of the protocol, whatever the server sends", async () => {
    const sent = ["debug", "notice", "critical", "emergency", "constructor", "WARNING", 7, undefined];
    const notices = sent.map((level) => ({
      notify: { method: "notifications/message", params: { level, data: "text" } },
    }));
    const script = { on: [{ when: { tool: "add" }, do: [...notices, { default: true as const }] }] };
    await using hub = await createHub({ servers: { it: fakeStdio(script) } });
    const levels: string[] = [];
    hub.on("server-log", ({ level, source }) => source === "notification" && levels.push(level));
    await hub.callTool("it.add", { a: 1, b: 2 });
    expect(levels).toEqual(["debug", "notice", "critical", "emergency", "info", "info", "info", "info"]);
  });
});
