import { describe, expect, it } from "vitest";
import { ParsedParams } from "../../src/host.ts";
import type { ServerQuestion } from "../../src/host.ts";
import type { ForwardOptions } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { failure, openHub, openLogged } from "../servers/hub-fixture.ts";

const capabilities = { elicitation: { form: {}, url: {} }, sampling: {} };
const form = {
  message: "Who?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } } },
};
const elicit = { method: "elicitation/create", params: form };
const required = (inputRequests: object) => ({
  answer: { resultType: "input_required", inputRequests, requestState: "state-1" },
});

/** Answers every form with a name, and remembers what it was asked. */
function answering(asked: ServerQuestion[] = []): ForwardOptions {
  const onQuestion = async (question: ServerQuestion) => {
    asked.push(question);
    return { action: "accept", ...(question.params["mode"] !== "url" && { content: { name: "Ada" } }) };
  };
  return { fulfil: true, capabilities, onQuestion };
}

describe("M81 a forwarded call whose input is asked for", () => {
  it("has one handler for servers of both eras, and comes back as bytes", async () => {
    const servers = { old: fakeStdio({ versions: "legacy" }), new: fakeStdio({ versions: "modern" }) };
    await using hub = await openHub(servers, { capabilities });
    for (const server of ["old", "new"]) {
      const asked: ServerQuestion[] = [];
      const params = { arguments: { rounds: 2 } };
      const answer = await hub.forwardCall(`${server}.elicit`, params, { ...answering(asked), raw: true });
      expect("bytes" in answer && answer.bytes.toString(), server).toContain("Ada");
      expect(asked.map(({ method }) => method)).toEqual(["elicitation/create", "elicitation/create"]);
      expect(asked[0]?.params).toMatchObject({ message: "What is your name?" });
    }
  });

  it("is repeated with its own bytes, the answers and the state", async () => {
    const big = "12345678901234567890123";
    const on = [{ when: { tool: "echo", nth: 1 }, do: [required({ who: elicit })] }];
    await using logged = await openLogged({ versions: "modern", on });
    await using hub = await openHub({ it: logged.entry });
    const params = ParsedParams.parse(Buffer.from(`{"arguments":{"n":${big}},"more":[${big}]}`));
    await hub.forwardCall("it.echo", params, answering());
    const [, again = ""] = logged.lines().filter((line) => line.includes("tools/call"));
    expect(again).toContain(`"arguments":{"n":${big}}`);
    expect(again).toContain(`"more":[${big}]`);
    expect(again).toContain('"inputResponses":{"who":{"action":"accept","content":{"name":"Ada"}}}');
    expect(again).toContain('"requestState":"state-1"');
  });

  it("asks for all inputs of one answer together, and withdraws the others when one is refused", async () => {
    const both = required({ one: elicit, two: { method: "sampling/createMessage", params: {} } });
    const script: Script = { versions: "modern", on: [{ when: { tool: "echo", nth: [1, 3] }, do: [both] }] };
    await using hub = await openHub({ it: fakeStdio(script) });
    let waiting: (() => void) | undefined;
    const together = async () => {
      const other = waiting;
      if (other) other();
      else await new Promise<void>((resolve) => (waiting = resolve));
      return { action: "accept", content: { name: "x" } };
    };
    expect(await hub.forwardCall("it.echo", {}, { ...answering(), onQuestion: together })).toHaveProperty(
      "result",
    );
    let withdrawn: AbortSignal | undefined;
    const onQuestion = ({ method, signal }: ServerQuestion) => {
      if (method === "sampling/createMessage") return Promise.reject(new Error("broken"));
      withdrawn = signal;
      return new Promise<never>(() => undefined);
    };
    await expect(hub.forwardCall("it.echo", {}, { ...answering(), onQuestion })).rejects.toThrow("broken");
    expect(withdrawn?.aborted).toBe(true);
  });

  it("leaves what is no question as it came, and everything without `fulfil`", async () => {
    const task = { resultType: "task", taskId: "t-1" };
    const on = [
      { when: { tool: "echo" }, do: [{ answer: task }] },
      { when: { tool: "add" }, do: [required({ who: elicit })] },
    ];
    await using hub = await openHub({ it: fakeStdio({ versions: "modern", on }) });
    expect(await hub.forwardCall("it.echo", {}, answering())).toMatchObject({ result: task });
    const raw = await hub.forwardCall("it.echo", {}, { ...answering(), raw: true });
    expect(raw).toMatchObject({ resultType: "task" });
    const asked: ServerQuestion[] = [];
    const args = { arguments: { a: 1, b: 2 } };
    const untouched = await hub.forwardCall("it.add", args, { ...answering(asked), fulfil: false });
    expect(untouched).toMatchObject({ result: { resultType: "input_required", requestState: "state-1" } });
    expect(asked).toEqual([]);
  });

  it("shows the pages that a legacy server wants opened; its own error comes back if somebody declines", async () => {
    const page = { mode: "url", elicitationId: "one", url: "https://login.example/", message: "There" };
    const error = { code: -32_042, message: "Log in first", data: { elicitations: [page] } };
    const on = [{ when: { tool: "echo", nth: [1, 2] }, do: [{ error }] }];
    await using hub = await openHub({ it: fakeStdio({ versions: "legacy", on }) }, { capabilities });
    const onQuestion = async () => ({ action: "decline" });
    expect(await hub.forwardCall("it.echo", {}, { ...answering(), onQuestion })).toEqual({ error });
    const asked: ServerQuestion[] = [];
    expect(await hub.forwardCall("it.echo", {}, answering(asked))).toHaveProperty("result");
    expect(asked.map(({ params }) => params)).toEqual([page]);
  });

  it("ends with its question when the client or the hub gives it up", async () => {
    const on = [{ when: { tool: "echo" }, do: [required({ who: elicit })] }];
    await using hub = await openHub({ it: fakeStdio({ versions: "modern", on }) });
    const giveUp = async (how: (client: AbortController) => void) => {
      const client = new AbortController();
      const asked = Promise.withResolvers<AbortSignal>();
      const onQuestion = ({ signal }: ServerQuestion) => {
        asked.resolve(signal);
        return new Promise<never>(() => undefined);
      };
      const options = { ...answering(), onQuestion, signal: client.signal };
      const call = failure(hub.forwardCall("it.echo", {}, options));
      const question = await asked.promise;
      how(client);
      return [(await call).code, question.aborted];
    };
    expect(await giveUp((client) => client.abort())).toEqual(["call-cancelled", true]);
    expect(await giveUp(() => hub.cancel(hub.calls()[0]?.call ?? ""))).toEqual(["call-cancelled", true]);
  });

  it("obeys the configuration, whoever answers: declined questions reach nobody, nor do unsafe pages", async () => {
    const unsafe = {
      method: "elicitation/create",
      params: { mode: "url", url: "javascript:alert(1)", message: "" },
    };
    const on = [{ when: { tool: "echo", nth: 1 }, do: [required({ page: unsafe })] }];
    const entry = fakeStdio({ versions: "modern", on });
    const servers = {
      modern: { ...fakeStdio({ versions: "modern" }), elicitation: "decline" as const },
      legacy: { ...fakeStdio({ versions: "legacy" }), elicitation: "decline" as const },
      unsafe: entry,
    };
    await using hub = await openHub(servers, { capabilities });
    const asked: ServerQuestion[] = [];
    for (const server of ["modern", "legacy"]) {
      const answer = await hub.forwardCall(`${server}.elicit`, {}, answering(asked));
      expect(JSON.stringify(answer)).toContain("decline");
    }
    const error = await failure(hub.forwardCall("unsafe.echo", {}, answering(asked)));
    expect(error).toMatchObject({ code: "question-declined" });
    expect(asked).toEqual([]);
  });
});

describe("M81 any other request whose input is asked for", () => {
  it("is answered by its own handler, as an object or as bytes", async () => {
    const read = { when: { method: "resources/read", nth: [1, 3] }, do: [required({ who: elicit })] };
    await using logged = await openLogged({ versions: "modern", on: [read] });
    await using hub = await openHub({ it: logged.entry });
    for (const raw of [false, true]) {
      const asked: ServerQuestion[] = [];
      const options = { ...answering(asked), server: "it", raw };
      const answer = await hub.request("resources/read", { uri: "fake://readme" }, options);
      expect("bytes" in answer).toBe(raw);
      expect(asked).toHaveLength(1);
    }
    const again = logged.heard().filter(({ method }) => method === "resources/read");
    expect(again).toHaveLength(4);
    expect(again[1]?.params).toMatchObject({
      inputResponses: { who: { action: "accept" } },
      requestState: "state-1",
    });
  });
});
