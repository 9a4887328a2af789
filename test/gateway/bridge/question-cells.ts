import { expect } from "vitest";
import { ClientRefusal, type Fields } from "../clients/client.ts";
import { type Cell, isOnStreamOf, type RunCell, until } from "./cell.ts";

const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const accept = (name: string): Fields => ({ action: "accept", content: { name } });
const answersOf = (result: Fields): unknown => (result["structuredContent"] as Fields)["answers"];

/** What the server heard in answer to its questions, whichever way its era has for that. */
function answered({ upstream, heard, answers }: Cell): unknown[] {
  if (upstream.era === "legacy") return answers().map(({ result }) => result);
  return heard().flatMap(({ message: { params } }) =>
    Object.values((params?.["inputResponses"] ?? {}) as Fields),
  );
}

/** The client saw the questions in the way of its era, and nothing of the server's own state. */
function assertAsked({ client, heard }: Cell, questions: [method: string, params: Fields][]): void {
  const seen = client.questions();
  expect(seen.map(({ method, params }) => [method, params])).toEqual(questions);
  const states = client.seen.flatMap(({ text }) => /"requestState":"([^"]*)"/.exec(text)?.[1] ?? []);
  expect(states.length > 0).toBe(client.era === "modern");
  if (client.era === "legacy") return;
  for (const state of states) expect(heard().some(({ text }) => text.includes(state))).toBe(false);
}

export const form: RunCell = async (cell) => {
  const { client, name } = cell;
  const given: Fields[] = [accept("Ada"), { action: "decline" }, { action: "cancel" }];
  for (const answer of given) {
    client.answer = () => answer;
    const sent = client.call(name("elicit"), { message: "Who?" });
    expect(answersOf(await client.result(sent))).toEqual([answer]);
    if (client.era === "legacy")
      expect(client.questions().every((seen) => isOnStreamOf(sent, client, seen))).toBe(true);
    assertAsked(cell, [["elicitation/create", { message: "Who?", requestedSchema: schema }]]);
    client.seen.length = 0;
  }
  expect(answered(cell)).toEqual(given);
  let round = 0;
  client.answer = () => accept(`round ${++round}`);
  const rounds = await client.result(client.call(name("elicit"), { rounds: 3 }));
  expect(answersOf(rounds)).toEqual([1, 2, 3].map((one) => accept(`round ${one}`)));
  expect(client.questions()).toHaveLength(3);
};

export const promptsAndResources: RunCell = async (cell) => {
  const { client, name, upstream } = cell;
  client.answer = () => accept("Ada");
  const prompt = await client.result(client.request("prompts/get", { name: name("ask") }));
  expect(prompt["messages"]).toMatchObject([{ content: { text: "ask for Ada" } }]);
  const uri = `fake://${upstream.name}/ask`;
  const { contents } = await client.result(client.request("resources/read", { uri }));
  expect(contents).toMatchObject([{ uri, text: `text of ${uri} for Ada` }]);
  const question: [string, Fields] = [
    "elicitation/create",
    { message: "What is your name?", requestedSchema: schema },
  ];
  assertAsked(cell, [question, question]);
  expect(answered(cell)).toEqual([accept("Ada"), accept("Ada")]);
};

const said = { role: "assistant", content: { type: "text", text: "hi" }, model: "m", extra: { kept: 1 } };

export const together: RunCell = async (cell) => {
  const { client, name } = cell;
  client.answer = (method) => (method === "elicitation/create" ? accept("Ada") : said);
  const { structuredContent } = await client.result(client.call(name("both")));
  expect(structuredContent).toEqual({ person: accept("Ada"), model: said });
  const methods = new Set(client.questions().map(({ method }) => method));
  expect(methods).toEqual(new Set(["elicitation/create", "sampling/createMessage"]));
  expect(client.questions()).toHaveLength(2);
  expect(answered(cell)).toHaveLength(2);
};

export const page: RunCell = async (cell) => {
  const { client, name } = cell;
  client.answer = () => ({ action: "accept" });
  const { structuredContent } = await client.result(client.call(name("visit")));
  expect(structuredContent).toEqual({ page: { action: "accept" } });
  const url = "https://example.com/page?of=this";
  assertAsked(cell, [
    ["elicitation/create", { mode: "url", message: "Please look", url, elicitationId: "page-1" }],
  ]);
  expect(answered(cell)).toEqual([{ action: "accept" }]);
};

export const pageComplete: RunCell = async ({ client, name, outcome }) => {
  client.answer = () => ({ action: "accept" });
  await client.result(client.call(name("visit")));
  const told = client.notifications("notifications/elicitation/complete").map(({ params }) => params);
  expect(told).toEqual(outcome === "passes" ? [{ elicitationId: "page-1" }] : []);
};

export const pageRequired: RunCell = async (cell) => {
  const { client, name, heard, fresh, outcome } = cell;
  const ticket = (own: string) => `${own} of a ${client.era} client over ${client.wire.transport}`;
  const page = (elicitationId: string) => {
    const url = "https://example.com/gate";
    return { mode: "url", message: "Please knock", url, elicitationId };
  };
  if (outcome !== "passes") {
    client.answer = () => ({ action: "accept" });
    const sent = client.call(name("gate"), { ticket: ticket("one") });
    expect((await client.result(sent))["content"]).toEqual([{ type: "text", text: "come in" }]);
    assertAsked(cell, [["elicitation/create", page(ticket("one"))]]);
    expect(heard("tools/call")).toHaveLength(2);
  }
  const formsOnly = await fresh({ capabilities: { elicitation: {} } });
  const { error } = await formsOnly.call(name("gate"), { ticket: ticket("two") }).answer;
  const data = { elicitations: [page(ticket("two"))] };
  expect(error).toEqual({ code: -32_042, message: "Open a page first", data });
  expect(formsOnly.questions()).toEqual([]);
  await formsOnly.close();
};

export const withdrawn: RunCell = async ({ client, name, outcome, answers }) => {
  if (outcome === "none") return;
  const forgotten = Promise.withResolvers<Fields>();
  client.answer = () => forgotten.promise;
  const sent = client.call(name("withdraw"));
  await client.sees("its question", ({ kind }) => kind === "question");
  const ref = { type: "ref/prompt", name: name("greet") };
  await client.result(client.request("completion/complete", { ref, argument: { name: "who", value: "" } }));
  if (client.era === "legacy") {
    const method = "notifications/cancelled";
    const { params } = await client.sees("that it is over", (seen) => seen.method === method);
    expect(params?.["requestId"]).toBe(client.questions()[0]?.id);
  } else {
    forgotten.resolve({ action: "cancel" });
  }
  expect((await client.result(sent))["content"]).toEqual([{ type: "text", text: "without you" }]);
  if (client.era === "legacy") expect(answers()).toEqual([]);
};

export const sampling: RunCell = async (cell) => {
  const { client, name } = cell;
  client.answer = () => said;
  const { structuredContent } = await client.result(client.call(name("sample"), { prompt: "Say hi" }));
  expect(structuredContent).toEqual(said);
  const messages = [{ role: "user", content: { type: "text", text: "Say hi" } }];
  assertAsked(cell, [["sampling/createMessage", { messages, maxTokens: 100 }]]);
  expect(answered(cell)).toEqual([said]);
};

export const roots: RunCell = async (cell) => {
  const { client, name } = cell;
  const mine = { roots: [{ uri: "file:///home/ada", name: "ada", _meta: { "example.com/x": 1 } }] };
  client.answer = () => mine;
  const { structuredContent } = await client.result(client.call(name("roots")));
  expect(structuredContent).toEqual(mine);
  assertAsked(cell, [["roots/list", {}]]);
  expect(answered(cell)).toEqual([mine]);
};

export const rootsChanged: RunCell = async ({ client, name, heard, outcome }) => {
  const method = "notifications/roots/list_changed";
  await client.notify(method);
  if (outcome === "passes") await until("the server is told", () => heard(method).length > 0);
  // Whatever else was passed on is there before this call.
  await client.result(client.call(name("echo")));
  await client.result(client.call(name("echo")));
  expect(heard(method).length > 0).toBe(outcome === "passes");
};

export const undeclared: RunCell = async (cell) => {
  const { upstream, name, fresh, answers } = cell;
  const client = await fresh({ capabilities: {} });
  for (const tool of ["elicit", "sample", "roots"]) {
    const { error } = await client.call(name(tool)).answer;
    if (upstream.era === "modern") expect(error).toMatchObject({ code: -32_021 });
    else expect(error).toBeDefined();
  }
  expect(client.questions()).toEqual([]);
  // The server was told that it cannot be; nobody answered for the client.
  if (upstream.era === "legacy")
    expect(answers()).toMatchObject([-32_601, -32_601, -32_601].map((code) => ({ error: { code } })));
  else expect(answered(cell)).toEqual([]);
  const formsOnly = await fresh({ capabilities: { elicitation: {} } });
  const { error, result } = await formsOnly.call(name("visit")).answer;
  // Our modern fake asks all the same, and the call fails for that.
  expect(error !== undefined || result?.["isError"] === true).toBe(true);
  expect(formsOnly.questions()).toEqual([]);
  await Promise.all([client.close(), formsOnly.close()]);
};

export const clientError: RunCell = async ({ client, name, outcome, answers, heard }) => {
  if (outcome === "none") return;
  client.answer = () => {
    throw new ClientRefusal(-1, "User rejected the request");
  };
  const { text } = await client.call(name("sample")).answer;
  expect(text).toContain("User rejected the request");
  if (outcome === "passes")
    expect(answers()).toMatchObject([{ error: { code: -1, message: "User rejected the request" } }]);
  else expect(heard("tools/call")).toHaveLength(1);
};

export const parallel: RunCell = async (cell) => {
  const { client, name } = cell;
  const names = ["one", "two", "three"];
  client.answer = (_method, { message }) => accept(String(message));
  const asked = names.map(async (message) =>
    answersOf(await client.result(client.call(name("elicit"), { message, rounds: 2 }))),
  );
  const twice = names.map((message) => [accept(message), accept(message)]);
  expect(await Promise.all(asked)).toEqual(twice);
  expect(client.questions()).toHaveLength(6);
};
