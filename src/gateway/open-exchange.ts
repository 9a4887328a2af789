import type { ParsedParams } from "../host.ts";
import type { Client, Exchange, Outlet } from "./exchange.ts";
import type { ClientRequest } from "./message.ts";
import { stringifyExact } from "../lib/exact-json.ts";

/** A request under way, with what ends it. */
export class OpenExchange implements Exchange {
  readonly client: Client;
  readonly id: string | number;
  readonly method: string;
  readonly params: ParsedParams;
  readonly outlet: Outlet;
  /** Most requests are never cancelled, and not all of them need a signal. */
  #abort: AbortController | undefined;
  #listeners: (() => void)[] | undefined;
  #isCancelled = false;
  #isAnswered = false;

  constructor(client: Client, { id, method, params }: ClientRequest, outlet: Outlet) {
    this.client = client;
    this.id = id;
    this.method = method;
    this.params = params;
    this.outlet = outlet;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#isCancelled) this.#abort.abort();
    return this.#abort.signal;
  }

  onCancelled(listener: () => void): () => void {
    if (this.#isCancelled) listener();
    else (this.#listeners ??= []).push(listener);
    return () => {
      this.#listeners = this.#listeners?.filter((one) => one !== listener);
    };
  }

  /** The client cancelled it, or is gone for good. */
  cancel(): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#abort?.abort();
    for (const listener of this.#listeners ?? []) listener();
    this.#listeners = undefined;
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  get isConnected(): boolean {
    return this.outlet.isConnected?.() ?? true;
  }

  /** From now on nothing more is sent about it. */
  end(): void {
    this.#isAnswered = true;
  }

  notify(method: string, params: Record<string, unknown>): void {
    if (!this.#isAnswered) this.outlet.send(notificationText(method, params));
  }
}

export function notificationText(method: string, params: Record<string, unknown>): string {
  return stringifyExact({ jsonrpc: "2.0", method, params });
}

/** The same as `Exchange.onCancelled`, for whoever has only a signal. */
export function onAborted(signal: AbortSignal): Exchange["onCancelled"] {
  return (listener) => {
    if (signal.aborted) listener();
    else signal.addEventListener("abort", listener, { once: true });
    return () => signal.removeEventListener("abort", listener);
  };
}
