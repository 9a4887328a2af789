import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { PlugboardError } from "../../errors.ts";
import { Refusal } from "../../interact/answers.ts";
import { isRecord } from "../../lib/record.ts";
import { readAnswer } from "./lane-messages.ts";
import type { JsonRpcAnswer } from "./lane-messages.ts";

/** What the other side may ask or tell us. */
export interface PeerHandlers {
  /** Answers a request of the server. Throw a `Refusal` for a JSON-RPC error of your choice. */
  onRequest(
    method: string,
    params: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>>;
  onNotification(method: string, params: Record<string, unknown>): void;
}

interface Pending {
  resolve(answer: JsonRpcAnswer): void;
  reject(error: unknown): void;
}

const maxQuestions = 64;

/**
 * JSON-RPC over a transport, for what is rare: the handshake, and requests and notifications that come from the
 * server. Calls take the lane. Ids begin with "h", so they never meet the lane's.
 */
export class Peer {
  /** Messages that made no sense: answers to nothing, requests of a server that may not ask. */
  ignored = 0;
  readonly #transport: Transport;
  readonly #server: string;
  readonly #handlers: PeerHandlers;
  readonly #pending = new Map<string, Pending>();
  readonly #questions = new Map<unknown, AbortController>();
  #issued = 0;
  /** In the modern era servers answer, they do not ask. */
  mayAsk = true;

  constructor(transport: Transport, server: string, handlers: PeerHandlers) {
    this.#transport = transport;
    this.#server = server;
    this.#handlers = handlers;
    Object.assign(transport, { onmessage: (message: JSONRPCMessage) => this.#receive(message) });
  }

  /** Rejects with whatever the transport throws; never times out by itself. */
  request(method: string, params: Record<string, unknown>, signal: AbortSignal): Promise<JsonRpcAnswer> {
    const id = `h${++this.#issued}`;
    const { promise, resolve, reject } = Promise.withResolvers<JsonRpcAnswer>();
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    this.#pending.set(id, { resolve, reject });
    this.#transport
      .send({ jsonrpc: "2.0", id, method, params }, { requestSignal: signal })
      .catch((error: unknown) => reject(error));
    return promise.finally(() => {
      this.#pending.delete(id);
      signal.removeEventListener("abort", onAbort);
    });
  }

  async notify(method: string, params: Record<string, unknown> = {}): Promise<void> {
    await this.#transport.send({ jsonrpc: "2.0", method, params });
  }

  /** Nothing more is coming. */
  close(error: PlugboardError): void {
    for (const { reject } of this.#pending.values()) reject(error);
    for (const question of this.#questions.values()) question.abort(error);
    this.#pending.clear();
    this.#questions.clear();
  }

  #receive(message: unknown): void {
    if (!isRecord(message)) return;
    const { id, method } = message;
    const params = isRecord(message["params"]) ? message["params"] : {};
    if (typeof method === "string") {
      if (id === undefined) this.#hear(method, params);
      else void this.#answer(id, method, params);
      return;
    }
    const pending = typeof id === "string" ? this.#pending.get(id) : undefined;
    if (!pending) {
      this.ignored++;
      return;
    }
    const answer = readAnswer(message);
    if (answer) pending.resolve(answer);
    else
      pending.reject(
        new PlugboardError("protocol-error", `"${this.#server}" sent an answer that is no JSON-RPC answer.`, {
          server: this.#server,
        }),
      );
  }

  #hear(method: string, params: Record<string, unknown>): void {
    if (method === "notifications/cancelled") this.#questions.get(params["requestId"])?.abort();
    this.#handlers.onNotification(method, params);
  }

  async #answer(id: unknown, method: string, params: Record<string, unknown>): Promise<void> {
    if (!this.mayAsk || (typeof id !== "string" && typeof id !== "number")) {
      this.ignored++;
      return;
    }
    const respond = (body: object) =>
      this.#transport.send({ jsonrpc: "2.0", id, ...body } as JSONRPCMessage).catch(() => undefined);
    if (method === "ping") return respond({ result: {} });
    if (this.#questions.size >= maxQuestions || this.#questions.has(id)) {
      return respond({ error: { code: -32_000, message: "Too many questions at once" } });
    }
    const abort = new AbortController();
    this.#questions.set(id, abort);
    try {
      const result = await this.#handlers.onRequest(method, params, abort.signal);
      if (!abort.signal.aborted) await respond({ result });
    } catch (error) {
      const code = error instanceof Refusal ? error.code : -32_603;
      const text = error instanceof Refusal ? error.message : "Internal error";
      if (!abort.signal.aborted) await respond({ error: { code, message: text } });
    } finally {
      this.#questions.delete(id);
    }
  }
}
