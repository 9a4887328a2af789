import { classify } from "./classify.ts";
import { deliver } from "./delivery.ts";
import type { FakeServer } from "./fake-server.ts";
import type { Outlet } from "./outlet.ts";
import { type Era, isAnswer, isFields, modernResult, requestId, type RpcError } from "./protocol.ts";
import type { Delivery, Fields } from "./script.ts";

export interface Incoming {
  message?: Fields;
  http?: { verb: string; path: string; headers: Record<string, string | string[] | undefined> };
  /** What the transport does by default before the server is asked; throws what is wrong with the request. */
  gate?: (era: Era) => void;
  /** What happens by default when there is no message; throws as well. */
  instead?: () => void;
}

/** One message and all that is said about it. */
export interface Exchange {
  readonly server: FakeServer;
  readonly incoming: Incoming;
  readonly outlet: Outlet;
  readonly signal: AbortSignal;
  readonly id: unknown;
  /** How the default answer goes out. */
  delivery: Delivery;
  /** Set by the steps: whether more messages follow, and whether anything else does. */
  more: boolean;
  later: boolean;
  /** Throws what is wrong with the message. */
  era(): Era;
  say(message: unknown, delivery?: Delivery): Promise<void>;
  answer(result: Fields, delivery?: Delivery): Promise<void>;
  fail(error: RpcError, delivery?: Delivery): Promise<void>;
  /** A request to the client on this message's stream; resolves with its whole answer. */
  ask(method: string, params: Fields | undefined, delivery?: Delivery): Promise<Fields>;
}

export function createExchange(
  server: FakeServer,
  incoming: Incoming,
  outlet: Outlet,
  signal: AbortSignal,
): Exchange {
  const id = requestId(incoming.message);
  const idFor = (delivery: Delivery): unknown =>
    "id" in delivery ? (isFlip(delivery.id) ? flip(id) : delivery.id) : (id ?? null);
  const exchange: Exchange = {
    server,
    incoming,
    outlet,
    signal,
    id,
    delivery: {},
    more: false,
    later: false,
    era: () => classify(server.script, incoming.message ?? {}, incoming.http?.headers),
    async say(message, delivery = {}) {
      const streaming = exchange.more || !isAnswer(message) || (delivery.times ?? 1) !== 1;
      const frame = (): Buffer => outlet.frame(message, streaming);
      await deliver(frame, delivery, server.script.limits, (bytes) => outlet.write(bytes, "output"));
      if (isAnswer(message) && delivery.cut === undefined && !exchange.later) outlet.finish();
    },
    async answer(result, delivery = exchange.delivery) {
      const full =
        safeEra(exchange) === "modern"
          ? modernResult(server.script, incoming.message?.["method"], result)
          : result;
      await exchange.say({ jsonrpc: "2.0", id: idFor(delivery), result: full }, delivery);
    },
    async fail(error, delivery = exchange.delivery) {
      if (error.status !== 200 && incoming.http !== undefined) outlet.head(error.status, {});
      await exchange.say({ jsonrpc: "2.0", id: idFor(delivery), error: error.toJSON() }, delivery);
    },
    async ask(method, params, delivery = {}) {
      const { id, answer } = server.question();
      await exchange.say({ jsonrpc: "2.0", id, method, ...(params !== undefined && { params }) }, delivery);
      return answer;
    },
  };
  return exchange;
}

function safeEra(exchange: Exchange): Era | undefined {
  try {
    return exchange.era();
  } catch {
    return undefined;
  }
}

function isFlip(id: unknown): boolean {
  return isFields(id) && id["flip"] === true;
}

function flip(id: unknown): unknown {
  return typeof id === "number" ? String(id) : Number(String(id).replaceAll(/\D/g, "") || 1);
}
