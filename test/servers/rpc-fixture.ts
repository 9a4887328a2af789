import { onTestFinished } from "vitest";
import type { PlugboardError } from "../../src/errors.ts";
import { shakeHands } from "../../src/servers/handshake.ts";
import { modernEnvelope } from "../../src/servers/rpc/envelope.ts";
import type { Listener } from "../../src/servers/rpc/inbound.ts";
import type { JsonRpcAnswer } from "../../src/servers/rpc/messages.ts";
import type { RequestOptions } from "../../src/servers/rpc/requests.ts";
import { Rpc } from "../../src/servers/rpc/rpc.ts";
import type { Transport, TransportEvents } from "../../src/servers/transports/transport.ts";

export type Era = "legacy" | "modern";
export type Params = Record<string, unknown>;

export const patient = { timeoutMs: 60_000, maxTimeoutMs: 60_000 } as const;
export const modernMeta = modernEnvelope({});
const capabilities = { elicitation: {} };

/** For transports that nobody listens to. */
export const deaf: TransportEvents = {
  wantsBytes: false,
  takes: () => false,
  message() {},
  failed() {},
  missed() {},
  doubted() {},
  closed() {},
};

export interface Opened<T extends Transport = Transport> {
  transport: T;
  rpc: Rpc;
  /** Settles when the transport reports that it is closed. */
  closed: Promise<PlugboardError>;
  request(method: string, params?: Params, options?: Partial<RequestOptions>): Promise<JsonRpcAnswer>;
  call(tool: string, args?: Params, options?: Partial<RequestOptions>): Promise<JsonRpcAnswer>;
}

/** A started transport under an `Rpc`; closed when the test ends. With an era, after its handshake. */
export async function openRpc<T extends Transport>(
  transport: T,
  { era, otherwise = {} }: { era?: Era | undefined; otherwise?: Listener } = {},
): Promise<Opened<T>> {
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<PlugboardError>();
  const rpc = new Rpc({ server: "remote", transport, otherwise, onClosed });
  onTestFinished(() => transport.close());
  await rpc.start();
  const request: Opened["request"] = (method, params = {}, options = {}) =>
    rpc.requests.request(method, params, { ...patient, ...options });
  const call: Opened["call"] = (name, args = {}, options = {}) => {
    const params = { name, arguments: args, ...(era === "modern" && { _meta: modernMeta }) };
    return request("tools/call", params, options);
  };
  if (era) await greet(rpc, transport, era);
  return { transport, rpc, closed, request, call };
}

async function greet(rpc: Rpc, transport: Transport, era: Era): Promise<void> {
  const { version } = await shakeHands({
    server: "remote",
    plan: { probe: era === "modern", initializeAfterMs: era === "modern" ? undefined : 0 },
    capabilities,
    signal: new AbortController().signal,
    request: (method, params, signal) =>
      rpc.requests.request(method, params, { ...patient, signal, isHandshake: true }),
  });
  transport.setVersion?.(version);
  if (era === "legacy") await rpc.notify("notifications/initialized");
}

export async function result(answer: Promise<JsonRpcAnswer>): Promise<Params> {
  const settled = await answer;
  if ("error" in settled) throw new Error(settled.error.message);
  return settled.result;
}

export async function failure(promise: Promise<unknown>): Promise<PlugboardError> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("value" in outcome) throw new Error(`expected a failure, got ${JSON.stringify(outcome.value)}`);
  return outcome.error as PlugboardError;
}

/** Waits for a condition by checking it on every turn of the event loop. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
