import type { JsonRpcAnswer, ParsedParams, RawAnswer } from "../host.ts";
import type { ForwardOptions, RequestOptions } from "../index.ts";
import type { Core } from "./core.ts";
import { viewOf } from "./exchange.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { cleanMeta } from "./envelope.ts";
import { withLinks } from "./links.ts";
import { Failure, failed } from "./failure.ts";
import { isRecord } from "../lib/record.ts";
import type { Running } from "./parked-calls.ts";
import { askClient, canBeAsked } from "./questions.ts";
import { assertPagesAllowed, completed, inputRequired, openState } from "./required-input.ts";
import { passMessage, passProgress } from "./notifications.ts";

export interface SendOptions
  extends Omit<RequestOptions, "server">, Partial<Pick<ForwardOptions, "cancellation">> {}

export interface Forwarded {
  server: string;
  params: ParsedParams;
  /** How to send it. Default: as a request of the same method. */
  send?: (params: ParsedParams, options: SendOptions) => Promise<JsonRpcAnswer | RawAnswer>;
  /** What a client gets where it could not be sent or was not answered. */
  failed?: (error: unknown) => Answer | Promise<Answer>;
  /** Hears of what a modern client gets in the end, by whichever of its requests. */
  onAnswer?: (answer: Answer) => void;
}

/** Passes a request on to a server, and everything that is said during it back and forth. */
export function forward(exchange: Exchange, core: Core, forwarded: Forwarded): Promise<Answer> {
  return exchange.client.era === "legacy"
    ? forwardLegacy(exchange, forwarded)
    : forwardModern(exchange, core, forwarded);
}

async function forwardLegacy(exchange: Exchange, forwarded: Forwarded): Promise<Answer> {
  const { client } = exchange;
  const { server, send } = forwarded;
  const options: SendOptions = {
    onProgress: (progress) => passProgress(exchange, progress),
    onNotification: (heard, said) => passMessage(exchange, heard, said),
    onQuestion: askClient(exchange),
    capabilities: client.capabilities,
    logLevel: client.logLevel,
    exclusive: canBeAsked(client),
    signal: send ? undefined : exchange.signal,
    cancellation: exchange,
    fulfil: true,
    boundTo: undefined,
  };
  try {
    const answer = await sending(exchange, forwarded)(cleanMeta(forwarded.params), options);
    if ("error" in answer) assertPagesAllowed(answer.error, server, client);
    const linked = withLinks(answer, server, exchange);
    return linked instanceof Promise ? await linked : linked;
  } catch (error) {
    return (forwarded.failed ?? failed)(error);
  }
}

async function forwardModern(exchange: Exchange, core: Core, forwarded: Forwarded): Promise<Answer> {
  const { client, method } = exchange;
  const { server } = forwarded;
  const params = cleanMeta(forwarded.params);
  const send = sending(exchange, forwarded);
  const { capabilities, logLevel } = client;
  const exclusive = canBeAsked(client);
  const fail = forwarded.failed ?? failed;
  const state = openState(exchange, server, core);
  if (state?.parked !== undefined) return core.parked.resume(state.parked, exchange);
  const own = state ? goingOn(params, state) : params;
  // Legacy servers have one level for everybody.
  if (logLevel !== undefined) await core.logLevels.wantForNow(logLevel);
  const run = async ({ signal, onQuestion }: SendOptions, running: Running) => {
    try {
      // To whichever request of the client waits for the answer then.
      const asked: SendOptions = {
        onProgress: (progress) => passProgress(running.exchange(), progress),
        onNotification: (heard, said) => passMessage(running.exchange(), heard, said),
        onQuestion,
        capabilities,
        logLevel,
        exclusive,
        signal,
        // The same members as for legacy clients: objects of one shape are copied faster.
        cancellation: undefined,
        fulfil: undefined,
        boundTo: state?.from,
      };
      let answer = await send(own, asked);
      for (let round = 0; ; round++) {
        const missing = hasFailed(answer) ? running.notAsked() : undefined;
        if (missing) throw missing;
        if ("error" in answer) assertPagesAllowed(answer.error, server, client);
        const required = inputRequired(answer, exchange, server, core);
        if (!required) break;
        if (!("again" in required)) return required;
        if (round === mostRounds) throw new Failure(-32_603, "The server does not stop asking.");
        const { from, ...again } = required.again;
        answer = await send(own.with(again), { ...asked, boundTo: from });
      }
      const linked = withLinks(completed(answer, method), server, exchange);
      const final = linked instanceof Promise ? await linked : linked;
      forwarded.onAnswer?.(final);
      return final;
    } catch (error) {
      return await fail(error);
    }
  };
  return core.parked.run(exchange, run);
}

function sending({ client, method }: Exchange, { server, send }: Forwarded): NonNullable<Forwarded["send"]> {
  return send ?? ((own, options) => viewOf(client).request(method, own, { server, raw: true, ...options }));
}

/** How often a server is told what the configuration answers, for one request of a client. */
const mostRounds = 10;

/** The parameters with the server's own state, and what the client was not asked for. */
function goingOn(
  params: ParsedParams,
  { upstream, answered }: NonNullable<ReturnType<typeof openState>>,
): ParsedParams {
  const { inputResponses } = params.value;
  const inputs = answered && { ...(isRecord(inputResponses) && inputResponses), ...answered };
  return params.with({ requestState: upstream, ...(inputs && { inputResponses: inputs }) });
}

function hasFailed(answer: JsonRpcAnswer | RawAnswer): boolean {
  return "error" in answer || ("bytes" in answer ? answer.isError : answer.result["isError"] === true);
}
