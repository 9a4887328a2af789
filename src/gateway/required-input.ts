import { canonicalJson, sha256 } from "../lib/canonical.ts";
import { inputMistake } from "../host.ts";
import { PlugboardError } from "../index.ts";
import type { JsonRpcAnswer, RawAnswer } from "../host.ts";
import { jsonMembers } from "../lib/json-members.ts";
import { isRecord } from "../lib/record.ts";
import type { Core } from "./core.ts";
import { viewOf } from "./exchange.ts";
import type { Answer, Client, Exchange, RpcFailure } from "./exchange.ts";
import { Failure, invalidParams } from "./failure.ts";
import { isDeclared } from "./questions.ts";
import { parseExact } from "../lib/exact-json.ts";

/** What is inside of a request state that a client carries. */
interface State {
  /** The request that it belongs to. */
  digest: string;
  expiresAt: number;
  server?: string;
  /** What gave it: another server of this name must not get it. */
  from?: string;
  /** The server's own state; absent if it gave none. */
  upstream?: unknown;
  /** Inputs that the configuration has answered, so that the client was not asked for them. */
  answered?: Inputs;
  /** The schemas of the forms that the client was asked to fill in, by the keys of the inputs. */
  forms?: Inputs;
  /** A call that waits here. */
  parked?: { id: string; round: number };
  /** The question about a call that waits for approval. */
  approval?: string;
}

type Inputs = Record<string, unknown>;

const validMs = 3_600_000;

/** Seals what is needed to go on, for this caller and this request only. */
export function sealState(
  exchange: Exchange,
  { seal }: Core,
  content: Pick<State, "server" | "from" | "upstream" | "parked" | "answered" | "forms" | "approval">,
  lastsMs = validMs,
): string {
  const state: State = { ...content, digest: digestOf(exchange), expiresAt: Date.now() + lastsMs };
  return seal.close("state", exchange.client.caller, state);
}

/** Opens the request state that came with a request; undefined if there is none. */
export function openState(
  exchange: Exchange,
  server: string,
  { seal }: Core,
): Pick<State, "from" | "upstream" | "parked" | "answered" | "approval"> | undefined {
  const { requestState } = exchange.params.value;
  if (requestState === undefined) return undefined;
  const state = seal.open("state", exchange.client.caller, requestState) as State | undefined;
  const isOurs =
    state?.digest === digestOf(exchange) && (state.parked !== undefined || state.server === server);
  if (!state || !isOurs || state.expiresAt < Date.now())
    throw invalidParams("The request state is not valid for this request.");
  if (state.forms) assertAnswersFit(asForms(state.forms), exchange.params.value["inputResponses"]);
  return state;
}

/** More than this is not carried around; the server has to check such an answer by itself. */
const maxFormCharacters = 64 * 1024;

/** The schemas of all forms among these questions; absent if there are none. */
function formsIn(asked: Inputs): Inputs | undefined {
  const forms = Object.entries(asked).flatMap(([key, request]): [string, unknown][] => {
    const { method, params } = isRecord(request) ? request : {};
    const schema = isRecord(params) ? params["requestedSchema"] : undefined;
    return method === "elicitation/create" && isRecord(schema) ? [[key, schema]] : [];
  });
  if (forms.length === 0 || JSON.stringify(forms).length > maxFormCharacters) return undefined;
  return Object.fromEntries(forms);
}

function asForms(schemas: Inputs): Inputs {
  const forms = Object.entries(schemas).map(([key, requestedSchema]) => [
    key,
    { method: "elicitation/create", params: { requestedSchema } },
  ]);
  return Object.fromEntries(forms) as Inputs;
}

/** Throws if the answer to a form does not match it. Nothing has been sent then, so the client can answer again. */
export function assertAnswersFit(asked: Inputs, responses: unknown): void {
  if (!isRecord(responses)) return;
  for (const [key, request] of Object.entries(asked)) {
    const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
    const { method, params } = isRecord(request) ? request : {};
    if (!isRecord(response) || !isRecord(params)) continue;
    const mistake = inputMistake(String(method), params, response);
    if (mistake !== undefined)
      throw invalidParams(
        `The answer to ${JSON.stringify(key.slice(0, 100))} does not match its form: ${mistake}.`,
      );
  }
}

/** What to send to a modern server to go on, without the client. */
export interface Again {
  inputResponses: Inputs;
  requestState: unknown;
  from: string | undefined;
}

/**
 * Wraps what a modern server wants to know; undefined if it wants nothing. If the configuration answers all of it, the
 * client is not asked: the request goes on with `again`.
 */
export function inputRequired(
  answer: JsonRpcAnswer | RawAnswer,
  exchange: Exchange,
  server: string,
  core: Core,
): Answer | { again: Again } | undefined {
  if ("bytes" in answer && answer.resultType !== "input_required") return undefined;
  if ("error" in answer) return pagesToOpen(answer, exchange, server, core);
  const result =
    "bytes" in answer
      ? (parseExact(answer.bytes.toString("utf8")) as Record<string, unknown>)
      : answer.result;
  if (result["resultType"] !== "input_required") return undefined;
  const { inputRequests, requestState: upstream } = result;
  const { asked, answered } = sortInputs(inputRequests, server, exchange.client);
  if (answered && !asked)
    return { again: { inputResponses: answered, requestState: upstream, from: answer.from } };
  const forms = asked && formsIn(asked);
  const requestState = sealState(exchange, core, {
    server,
    ...(answer.from !== undefined && { from: answer.from }),
    ...(upstream !== undefined && { upstream }),
    ...(answered && { answered }),
    ...(forms && { forms }),
  });
  return { result: { ...result, ...(asked && { inputRequests: asked }), requestState } };
}

/**
 * Tells what a server wants to know of the client from what the configuration answers; each is absent if there is none.
 * Throws if the client did not declare what it would be asked, or must not be shown it.
 */
export function sortInputs(
  inputRequests: unknown,
  server: string,
  client: Client,
): { asked?: Inputs; answered?: Inputs } {
  const view = viewOf(client);
  const asked: [string, unknown][] = [];
  const answered: [string, unknown][] = [];
  for (const [key, request] of Object.entries(isRecord(inputRequests) ? inputRequests : {})) {
    const { method, params } = isRecord(request) ? request : {};
    const answer = view.configuredAnswer(server, String(method), isRecord(params) ? params : {});
    if (answer) answered.push([key, answer]);
    else asked.push([key, request]);
  }
  const inputs = Object.fromEntries(asked);
  assertInputsDeclared(inputs, client);
  return {
    ...(asked.length > 0 && { asked: inputs }),
    ...(answered.length > 0 && { answered: Object.fromEntries(answered) }),
  };
}

/** Throws the protocol's error if a client would be asked what it did not declare. */
export function assertInputsDeclared(inputRequests: Inputs, client: Client): void {
  const undeclared = Object.values(inputRequests).find(
    (request) =>
      isRecord(request) &&
      !isDeclared(client, String(request["method"]), isRecord(request["params"]) ? request["params"] : {}),
  );
  if (isRecord(undeclared)) throw missingCapability(String(undeclared["method"]));
}

/** A legacy server can say that somebody has to open pages first. A modern client is asked for that like for any input. */
function pagesToOpen(
  { error, from }: Extract<JsonRpcAnswer, { error: unknown }>,
  exchange: Exchange,
  server: string,
  core: Core,
): Answer | undefined {
  const params = pagesIn(error);
  if (params.length === 0 || !params.every((one) => isDeclared(exchange.client, "elicitation/create", one)))
    return undefined;
  const requests = params.map((one, index) => [
    `page-${index + 1}`,
    { method: "elicitation/create", params: one },
  ]);
  return {
    result: {
      resultType: "input_required",
      inputRequests: Object.fromEntries(requests) as Record<string, unknown>,
      requestState: sealState(exchange, core, { server, ...(from !== undefined && { from }) }),
    },
  };
}

/**
 * Throws if a server wants pages opened that nobody may be asked about. Clients can open them by themselves, so not even
 * the server's error is passed on.
 */
export function assertPagesAllowed(error: RpcFailure, server: string, client: Client): void {
  for (const page of pagesIn(error)) {
    const asked = { ...page, mode: "url" };
    if (!viewOf(client).configuredAnswer(server, "elicitation/create", asked)) continue;
    const message = `"${server}" requires that somebody opens a page first, and its configuration declines that.`;
    throw new PlugboardError("question-declined", message, { server, executed: "no" });
  }
}

function pagesIn({ code, data }: Pick<RpcFailure, "code" | "data">): Inputs[] {
  const pages = code === -32_042 && isRecord(data) ? data["elicitations"] : undefined;
  return Array.isArray(pages) ? pages.filter(isRecord) : [];
}

/** Adds what every modern result has and a legacy server does not send. */
export function completed(answer: JsonRpcAnswer | RawAnswer, method: string): Answer {
  if ("error" in answer) return answer;
  const isCacheable = method === "resources/read";
  if ("result" in answer) {
    const cache = isCacheable && { ttlMs: 0, cacheScope: "private" };
    return { result: { resultType: "complete", ...cache, ...answer.result } };
  }
  const { bytes, resultType } = answer;
  const keys = new Set(isCacheable ? jsonMembers(bytes)?.map(({ key }) => key) : []);
  const missing = [
    ...(resultType === undefined ? ['"resultType":"complete"'] : []),
    ...(isCacheable && !keys.has("ttlMs") ? ['"ttlMs":0'] : []),
    ...(isCacheable && !keys.has("cacheScope") ? ['"cacheScope":"private"'] : []),
  ];
  return missing.length > 0 ? { ...answer, members: missing.join(",") } : answer;
}

/** The protocol's error for a request that cannot be done without asking what the client did not declare. */
export function missingCapability(method: string): Failure {
  const [name = method] = method.split("/");
  const capability = name === "sampling" || name === "roots" || name === "elicitation" ? name : method;
  return new Failure(-32_021, `The server requires ${method}, which the client does not support.`, {
    requiredCapabilities: { [capability]: {} },
  });
}

/** What makes a request the same one again: everything but the answers and what surrounds it. */
function digestOf({ method, params, client }: Exchange): string {
  const { requestState: _state, inputResponses: _responses, _meta: _unused, ...own } = params.value;
  return sha256(canonicalJson([method, client.endpoint.bundle ?? null, own])).slice(0, 32);
}
