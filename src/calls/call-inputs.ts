import type { JsonRpcAnswer, RawAnswer } from "../servers/rpc/messages.ts";
import type { Route } from "../servers/route.ts";
import type { Inputs } from "./input-required.ts";
import type { CallContext, ServerRequestOptions } from "./send.ts";

/** What a request needs to ask people for the input that its server requires. */
export interface InputContext extends Pick<CallContext, "request"> {
  /** Whoever made the request answers, or the view's `interact`. */
  answer(
    route: Route,
    question: { method: string; params: Record<string, unknown>; signal: AbortSignal },
    by: Pick<ServerRequestOptions, "call" | "onQuestion">,
  ): Promise<Record<string, unknown>>;
  /** Resolves when the server says that a page is done, or after a while; rejects when the request is given up. */
  completed(server: string, elicitationId: string, signal: AbortSignal): Promise<void>;
}

/** Sends a request and answers what the server requires; giving the request up withdraws the question. */
export function inputsOf(
  route: Route,
  method: string,
  options: ServerRequestOptions,
  context: InputContext,
): Inputs<JsonRpcAnswer | RawAnswer> {
  const { trace } = options;
  const { server } = route;
  const stop = new AbortController();
  const signals = [stop.signal, ...(options.signal ? [options.signal] : [])];
  const untilGivenUp = (also: AbortSignal[] = []) => {
    if (trace?.cancelled) stop.abort(trace.cancelled);
    if (trace) trace.cancel = (reason) => stop.abort(reason);
    return AbortSignal.any([...signals, ...also]);
  };
  return {
    server,
    // Answers, and the state that belongs to them, are for what asked and nothing else of that name.
    send: (params) => context.request(route, method, params, { ...options, onlyAt: trace?.target }),
    isModern: () => trace?.isModern === true,
    answer: (asked, given, over) =>
      context.answer(route, { method: asked, params: given, signal: untilGivenUp(over && [over]) }, options),
    completed: (elicitationId) => context.completed(server, elicitationId, untilGivenUp()),
  };
}
