import { describe, expect, it, vi } from "vitest";
import type { JsonRpcAnswer } from "../../src/host.ts";
import type { ConfigLiteral, ForwardOptions, Hub, View } from "../../src/index.ts";
import { Inbound } from "../../src/servers/rpc/inbound.ts";
import { Requests } from "../../src/servers/rpc/requests.ts";
import { Turns } from "../../src/servers/turns.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { failure, inProcessFake, openFake, openHub, openLogged } from "../servers/hub-fixture.ts";
import type { Servers } from "../servers/hub-fixture.ts";

const legacy = { versions: "legacy" as const };
const capabilities = { elicitation: {} };

/** An exchange of its own, in which this name is entered. */
function exchange(name: string): Pick<ForwardOptions, "exclusive" | "onQuestion"> {
  return { exclusive: true, onQuestion: async () => ({ action: "accept", content: { name } }) };
}

const elicit = (view: View, options: ForwardOptions) =>
  view.forwardCall("it.elicit", { arguments: {} }, options);

/** Two exchanges of one caller at once, so that the server's first question is in doubt. */
async function bringIntoDoubt(hub: Hub, view: View): Promise<JsonRpcAnswer> {
  await hub.connect("it");
  const stop = new AbortController();
  const args = { arguments: { ms: 60_000 } };
  const sleeping = failure(
    view.forwardCall("it.sleep", args, { ...exchange("asleep"), signal: stop.signal }),
  );
  const asked = await elicit(view, exchange("awake"));
  stop.abort();
  await sleeping;
  return asked;
}

/** A question that stays open until it is let go. */
function slowly(name: string) {
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const onQuestion = async () => {
    asked.resolve();
    await go.promise;
    return { action: "accept", content: { name } };
  };
  return { options: { exclusive: true, onQuestion }, asked: asked.promise, go: () => go.resolve() };
}

describe("M81 exchanges of one caller on a pipe", () => {
  it("never answer each other's questions: one in doubt is declined, later ones wait their turn", async () => {
    await using logged = await openLogged(legacy);
    await using hub = await openHub({ it: logged.entry }, { capabilities });
    const view = hub.view({ caller: "ada" });
    expect(JSON.stringify(await bringIntoDoubt(hub, view))).toContain("cannot be told which one");
    const names = Array.from({ length: 8 }, (_, index) => `exchange ${index}`);
    const answers = await Promise.all(names.map((name) => elicit(view, exchange(name))));
    for (const [index, answer] of answers.entries())
      expect(JSON.stringify(answer)).toContain(`"exchange ${index}"`);
    // Over their own connection, each call is followed by the answer to its question.
    const order = logged
      .heard()
      .filter(({ method, id }) => method === "tools/call" || (!method && id))
      .slice(-16);
    expect(order.map(({ method }) => method ?? "answer")).toEqual(
      names.flatMap(() => ["tools/call", "answer"]),
    );
  });

  it.each([
    ["denies it", { approval: "deny", bundles: { ours: { servers: ["it"] } } }, "approval-denied"],
    ["takes its server away", { bundles: { ours: { servers: ["other"] } } }, "tool-unknown"],
  ])("are held to a configuration that %s while they wait for their turn", async (_, settings, code) => {
    await using logged = await openLogged(legacy);
    const servers: Servers = { it: logged.entry, other: fakeStdio(legacy) };
    const bundles = { ours: { servers: ["it"] } };
    await using hub = await openHub(servers, { capabilities }, { bundles });
    const view = hub.view({ caller: "ada", bundle: "ours" });
    await bringIntoDoubt(hub, view);
    const slow = slowly("first");
    const first = elicit(view, slow.options);
    await slow.asked;
    const waiting = failure(view.forwardCall("it.add", { arguments: { a: 1, b: 2 } }, exchange("second")));
    await vi.waitFor(() => expect(hub.calls().filter(({ outcome }) => !outcome)).toHaveLength(2));
    await hub.reload({ servers, ...settings } as ConfigLiteral);
    slow.go();
    await first;
    expect(await waiting).toMatchObject({ code });
    expect(logged.heard().filter(({ params }) => params?.["name"] === "add")).toEqual([]);
  });

  it("do not delay those that nobody can be asked about, nor other callers", async () => {
    await using hub = await openHub({ it: fakeStdio(legacy) }, { capabilities });
    const view = hub.view({ caller: "ada" });
    await bringIntoDoubt(hub, view);
    const first = slowly("first");
    const open = elicit(view, first.options);
    await first.asked;
    const nobody = await view.forwardCall("it.echo", { arguments: { a: 1 } }, { exclusive: true });
    expect(JSON.stringify(nobody)).toContain('"a":1');
    const completing = { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "a" } };
    const options = { ...exchange("x"), server: "it" };
    expect(await view.request("completion/complete", completing, options)).toHaveProperty("result");
    expect(JSON.stringify(await elicit(hub.view({ caller: "bob" }), exchange("bob")))).toContain("bob");
    first.go();
    expect(JSON.stringify(await open)).toContain("first");
  });

  it("leave the queue when they are given up, and are not sent", async () => {
    await using logged = await openLogged(legacy);
    await using hub = await openHub({ it: logged.entry }, { capabilities });
    const view = hub.view({ caller: "ada" });
    await bringIntoDoubt(hub, view);
    const first = slowly("first");
    const open = elicit(view, first.options);
    await first.asked;
    const stop = new AbortController();
    const aborted = failure(elicit(view, { ...exchange("aborted"), signal: stop.signal }));
    const cancelled = failure(elicit(view, exchange("cancelled")));
    await vi.waitFor(() => expect(hub.calls().filter(({ outcome }) => !outcome)).toHaveLength(3));
    const last = elicit(view, exchange("last"));
    stop.abort();
    expect(await aborted).toMatchObject({ code: "call-cancelled", executed: "no" });
    hub.cancel(hub.calls().filter(({ outcome }) => !outcome)[1]?.call ?? "");
    expect(await cancelled).toMatchObject({ code: "call-cancelled", executed: "no" });
    first.go();
    expect(JSON.stringify([await open, await last])).toMatch(/first.*last/);
    const calls = logged.heard().filter(({ params }) => params?.["name"] === "elicit");
    expect(calls).toHaveLength(3);
  });

  it("go first while nobody knows whether an answer will come, which then waits for its turn", async () => {
    await using logged = await openLogged(legacy);
    await using hub = await openHub({ it: logged.entry }, { capabilities });
    const view = hub.view({ caller: "ada" });
    await bringIntoDoubt(hub, view);
    const [first, second] = [slowly("first"), slowly("second")];
    const open = elicit(view, {
      exclusive: true,
      onQuestion: (question) => {
        question.stepAside?.();
        return first.options.onQuestion();
      },
    });
    await first.asked;
    expect(JSON.stringify(await elicit(view, exchange("between")))).toContain("between");
    const busy = elicit(view, second.options);
    await second.asked;
    first.go();
    await view.request("tools/list", {}, { server: "it" });
    const answers = () => JSON.stringify(logged.heard().filter(({ method, id }) => !method && id));
    expect(answers()).not.toContain("first");
    second.go();
    expect(JSON.stringify([await busy, await open])).toMatch(/second.*first/);
    expect(answers()).toMatch(/between.*second.*first/);
  });

  it("wait for their turn with the answer to every question, not only to the first", async () => {
    await using logged = await openLogged(legacy);
    await using hub = await openHub({ it: logged.entry }, { capabilities });
    const view = hub.view({ caller: "ada" });
    await bringIntoDoubt(hub, view);
    const [later, other] = [slowly("later"), slowly("other")];
    let asked = 0;
    const onQuestion: ForwardOptions["onQuestion"] = async ({ stepAside }) => {
      stepAside?.();
      if (++asked > 1) return later.options.onQuestion();
      return { action: "accept", content: { name: "at once" } };
    };
    const options = { exclusive: true, onQuestion };
    const open = view.forwardCall("it.elicit", { arguments: { rounds: 3 } }, options);
    await later.asked;
    const busy = elicit(view, other.options);
    await other.asked;
    later.go();
    await view.request("tools/list", {}, { server: "it" });
    const answers = () => JSON.stringify(logged.heard().filter(({ method, id }) => !method && id));
    expect(answers()).not.toContain("later");
    other.go();
    expect(JSON.stringify(await busy)).toContain("other");
    expect(JSON.stringify(await open)).toMatch(/at once.*later.*later/);
  });

  it("go on when the call before them fails or its server dies", async () => {
    await using hub = await openHub({ it: fakeStdio(legacy) }, { capabilities });
    const view = hub.view({ caller: "ada" });
    await bringIntoDoubt(hub, view);
    const crash = failure(view.forwardCall("it.crash", { arguments: {} }, exchange("crash")));
    const next = elicit(view, exchange("next"));
    expect(await crash).toMatchObject({ code: "server-exited" });
    expect(JSON.stringify(await next)).toContain("next");
  });

  it("run side by side over HTTP, where a question comes on the stream of its call", async () => {
    await using http = await openFake(legacy);
    await using hub = await openHub({ it: { url: http.url } }, { capabilities });
    const view = hub.view({ caller: "ada" });
    const [one, two] = [slowly("one"), slowly("two")];
    const answers = [elicit(view, one.options), elicit(view, two.options)];
    await Promise.all([one.asked, two.asked]);
    one.go();
    two.go();
    expect(JSON.stringify(await Promise.all(answers))).toMatch(/one.*two/);
  });

  it("do not lose the time of their calls while they wait", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
    try {
      const entry = { ...inProcessFake(legacy), callTimeoutMs: 60_000 } as Servers[string];
      const hub = await openHub({ it: entry }, { capabilities });
      const first = slowly("first");
      await elicit(hub, exchange("before"));
      const open = elicit(hub, first.options);
      await first.asked;
      const waiting = elicit(hub, exchange("waiting"));
      await vi.advanceTimersByTimeAsync(180_000);
      first.go();
      expect(JSON.stringify([await open, await waiting])).toMatch(/first.*waiting/);
      await hub.close();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("M81 turns", () => {
  it("are not waited for longer than they may take", async () => {
    const turns = new Turns("it", 1);
    const first = await turns.next(undefined);
    const late = await failure(turns.next(undefined));
    expect(late).toMatchObject({ code: "call-timeout", executed: "no" });
    first.end();
    expect(await turns.next(undefined)).toMatchObject({ isAside: false });
  });

  it("are fair, also when those before were given up", async () => {
    const turns = new Turns("it", 60_000);
    const order: number[] = [];
    const first = turns.begin();
    const stop = new AbortController();
    const work = [1, 2, 3].map(async (number) => {
      const turn = await turns.next(number === 2 ? stop.signal : undefined);
      order.push(number);
      turn.end();
    });
    stop.abort();
    await expect(work[1]).rejects.toMatchObject({ code: "call-cancelled" });
    first.end();
    await Promise.all([work[0], work[2]]);
    expect(order).toEqual([1, 3]);
  });
});

describe("M81 a question right after an exchange was given up", () => {
  it("may be about that one, so nobody is asked; a while later it is not", async () => {
    let now = 0;
    const sent: unknown[] = [];
    const requests = new Requests({
      server: "it",
      send: () => undefined,
      cancel: () => undefined,
      now: () => now,
    });
    const inbound = new Inbound({ requests, otherwise: {}, send: (message) => void sent.push(message) });
    const limits = { timeoutMs: Infinity, maxTimeoutMs: Infinity, caller: "ada" };
    const stop = new AbortController();
    const first = requests.request("tools/call", {}, { ...limits, ...exchange("one"), signal: stop.signal });
    stop.abort();
    await failure(first);
    void requests.request("tools/call", {}, { ...limits, ...exchange("two") }).catch(() => undefined);
    const ask = async (id: number) => {
      inbound.receive({ jsonrpc: "2.0", id, method: "elicitation/create", params: {} }, undefined);
      await vi.waitFor(() => expect(sent).toHaveLength(id));
    };
    await ask(1);
    now = 60_000;
    await ask(2);
    expect(sent).toMatchObject([{ error: { code: -32_000 } }, { result: { content: { name: "two" } } }]);
    requests.close();
  });

  it("is about another one once the server has answered something that was sent later", async () => {
    await using hub = await openHub({ it: fakeStdio(legacy) }, { capabilities });
    const view = hub.view({ caller: "ada" });
    const stop = new AbortController();
    await view.forwardCall("it.elicit", {}, exchange("one"));
    const given = failure(
      view.forwardCall(
        "it.sleep",
        { arguments: { ms: 60_000 } },
        { ...exchange("one"), signal: stop.signal },
      ),
    );
    await view.request("tools/list", {}, { server: "it" });
    stop.abort();
    await given;
    await view.request("tools/list", {}, { server: "it" });
    const answer = await view.forwardCall("it.elicit", {}, exchange("two"));
    expect(answer).toMatchObject({
      result: { structuredContent: { answers: [{ content: { name: "two" } }] } },
    });
  });
});
