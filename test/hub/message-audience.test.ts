import { describe, expect, it } from "vitest";
import type { ServerNotification } from "../../src/host.ts";
import type { EventOf, View } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Step } from "../fixtures/fake/index.ts";
import { openHub } from "../servers/hub-fixture.ts";

const log = (data: string): Step => ({
  notify: { method: "notifications/message", params: { level: "error", data } },
});
const done: Step = { default: true };

interface Heard {
  notifications: ServerNotification[];
  logs: EventOf<"server-log">[];
  /** What the requests of this view heard. */
  inCall: unknown[];
}

function listen(view: View): Heard {
  const heard: Heard = { notifications: [], logs: [], inCall: [] };
  view.onNotification((one) => heard.notifications.push(one));
  view.on("server-log", (one) => heard.logs.push(one));
  return heard;
}

const call = (view: View, tool: string, heard: Heard) =>
  view.forwardCall(tool, {}, { onNotification: (_, params) => heard.inCall.push(params["data"]) });

/** The data of all messages that were heard, whichever way. */
const all = ({ notifications, logs, inCall }: Heard) => [
  ...notifications.map(({ params }) => params["data"]),
  ...logs.filter(({ source }) => source === "notification").map(({ message }) => message),
  ...inCall,
];

/** Resolves when the hub itself has heard this message, so that everybody else has, too. */
function heardBy(hub: View, data: string): Promise<void> {
  return new Promise((resolve) => {
    hub.on("server-log", ({ message }) => message.includes(data) && setImmediate(resolve));
  });
}

describe("a log message on a connection that callers share", () => {
  it("goes to no caller while the requests of two are under way; the hub itself hears it", async () => {
    const on = [
      { when: { tool: "add" }, do: [{ waitFor: { tool: "echo", nth: 1 } }, log("of ada"), done] },
      { when: { tool: "echo" }, do: [{ waitFor: { tool: "big", nth: 1 } }, done] },
    ];
    await using hub = await openHub({ it: fakeStdio({ versions: "legacy", on }) });
    const views = { ada: hub.view({ caller: "ada" }), bob: hub.view({ caller: "bob" }) };
    const [ada, bob, everything] = [listen(views.ada), listen(views.bob), listen(hub)];
    const said = heardBy(hub, "of ada");
    const calls = [call(views.ada, "it.add", ada), call(views.bob, "it.echo", bob)];
    await said;
    expect([all(ada), all(bob)]).toEqual([[], []]);
    expect(all(everything)).toEqual(["of ada", "of ada"]);
    expect(everything.notifications).toMatchObject([{ audience: { for: "nobody" }, isOfRequest: false }]);
    await Promise.all([...calls, call(views.ada, "it.big", ada)]);
  });

  it("goes to no caller when it comes after an answer, during the request of another", async () => {
    const on = [
      { when: { tool: "add" }, do: [done, { waitFor: { tool: "echo", nth: 1 } }, log("of ada")] },
      { when: { tool: "echo" }, do: [{ waitFor: { tool: "big", nth: 1 } }, done] },
    ];
    await using hub = await openHub({ it: fakeStdio({ versions: "legacy", on }) });
    const views = { ada: hub.view({ caller: "ada" }), bob: hub.view({ caller: "bob" }) };
    const [ada, bob] = [listen(views.ada), listen(views.bob)];
    const said = heardBy(hub, "of ada");
    await call(views.ada, "it.add", ada);
    const waiting = call(views.bob, "it.echo", bob);
    await said;
    expect([all(ada), all(bob)]).toEqual([[], []]);
    await Promise.all([waiting, call(views.bob, "it.big", bob)]);
  });

  it("goes to the only caller that has used the connection, during a request and after it", async () => {
    const on = [{ when: { tool: "echo" }, do: [log("during"), done, log("after")] }];
    await using hub = await openHub({ it: fakeStdio({ versions: "legacy", on }) });
    const view = hub.view({ caller: "ada" });
    const [ada, bob] = [listen(view), listen(hub.view({ caller: "bob" }))];
    const said = heardBy(hub, "after");
    await call(view, "it.echo", ada);
    await said;
    expect(ada.inCall).toEqual(["during"]);
    expect(ada.notifications).toMatchObject([
      { audience: { for: "caller", caller: "ada" }, isOfRequest: true },
      { audience: { for: "caller", caller: "ada" }, isOfRequest: false },
    ]);
    expect(ada.logs.map(({ message, caller }) => [message, caller])).toEqual([
      ["during", "ada"],
      ["after", "ada"],
    ]);
    expect(all(bob)).toEqual([]);
  });

  it("is heard by the single user of a hub without callers, in the call and in events", async () => {
    const on = [{ when: { tool: "echo" }, do: [log("during"), done, log("after")] }];
    await using hub = await openHub({ it: fakeStdio({ versions: "legacy", on }) });
    const own = listen(hub);
    const said = heardBy(hub, "after");
    await call(hub, "it.echo", own);
    await said;
    expect(own.inCall).toEqual(["during"]);
    expect(own.logs.map(({ message }) => message)).toEqual(["during", "after"]);
    expect(own.notifications).toHaveLength(2);
  });

  it("goes to no caller when one of two has only subscribed to something", async () => {
    const uri = "fake://docs/readme";
    const on = [{ when: { tool: "echo" }, do: [log("about a resource"), done] }];
    await using hub = await openHub({ it: fakeStdio({ versions: "legacy", on }) });
    const views = { ada: hub.view({ caller: "ada" }), bob: hub.view({ caller: "bob" }) };
    const [ada, bob] = [listen(views.ada), listen(views.bob)];
    await using stack = new AsyncDisposableStack();
    const stop = await views.bob.subscribeResource("it", uri, () => {});
    stack.defer(stop);
    await call(views.ada, "it.echo", ada);
    expect([all(ada), all(bob)]).toEqual([[], []]);
  });

  it("of stderr goes to nobody once two callers have used the program", async () => {
    const noise = (text: string): Step => ({ raw: `${text}\n`, to: "stderr" });
    const on = [
      { when: { tool: "add" }, do: [noise("first"), done] },
      { when: { tool: "echo" }, do: [noise("second"), done] },
    ];
    await using hub = await openHub({ it: fakeStdio({ versions: "legacy", on }) });
    const views = { ada: hub.view({ caller: "ada" }), bob: hub.view({ caller: "bob" }) };
    const [ada, bob] = [listen(views.ada), listen(views.bob)];
    for (const [view, tool, text] of [
      [views.ada, "it.add", "first"],
      [views.bob, "it.echo", "second"],
    ] as const) {
      const said = heardBy(hub, text);
      await view.callTool(tool);
      await said;
    }
    expect(ada.logs.map(({ message, caller }) => [message, caller])).toEqual([["first", "ada"]]);
    expect(bob.logs).toEqual([]);
  });
});

describe("that a page is done, on a connection that callers share", () => {
  const complete = (elicitationId: string): Step => ({
    notify: { method: "notifications/elicitation/complete", params: { elicitationId } },
  });
  const told = ({ notifications }: Heard) => notifications.map(({ params }) => params["elicitationId"]);

  it("is told to the caller that was sent there, by a question or an error, and to no other", async () => {
    const page = { mode: "url", message: "Sign in", url: "https://example.com/x", elicitationId: "asked" };
    const needed = { ...page, elicitationId: "needed" };
    const error = { code: -32_042, message: "Open a page first", data: { elicitations: [needed] } };
    const on = [
      { when: { tool: "add" }, do: [{ request: { method: "elicitation/create", params: page } }, done] },
      { when: { tool: "big" }, do: [{ error }] },
      { when: { tool: "echo" }, do: [complete("asked"), complete("needed"), complete("unknown"), done] },
    ];
    await using hub = await openHub({ it: fakeStdio({ versions: "legacy", on }) });
    const views = { ada: hub.view({ caller: "ada" }), bob: hub.view({ caller: "bob" }) };
    const [ada, bob] = [listen(views.ada), listen(views.bob)];
    const onQuestion = async () => ({ action: "accept" });
    await views.bob.callTool("it.fail");
    await views.ada.forwardCall("it.big", {});
    await views.ada.forwardCall("it.add", {}, { onQuestion });
    // After a question on a pipe callers have connections of their own. The hub still has the one that they shared.
    await hub.forwardCall("it.echo", {});
    expect(told(ada)).toEqual(["asked", "needed"]);
    expect(told(bob)).toEqual([]);
  });
});
