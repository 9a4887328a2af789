import type { ParsedParams } from "../index.ts";
import type { Client, Exchange, Outlet } from "./exchange.ts";
import type { ClientRequest } from "./message.ts";

/** A request under way, with what ends it. */
export class OpenExchange implements Exchange {
  readonly client: Client;
  readonly id: string | number;
  readonly method: string;
  readonly params: ParsedParams;
  readonly outlet: Outlet;
  readonly #abort = new AbortController();
  #isAnswered = false;

  constructor(client: Client, { id, method, params }: ClientRequest, outlet: Outlet) {
    this.client = client;
    this.id = id;
    this.method = method;
    this.params = params;
    this.outlet = outlet;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The client cancelled it, or is gone for good. */
  cancel(): void {
    this.#abort.abort();
  }

  get isCancelled(): boolean {
    return this.#abort.signal.aborted;
  }

  /** From now on nothing more is sent about it. */
  end(): void {
    this.#isAnswered = true;
  }

  header(name: string): string | undefined {
    return this.outlet.header?.(name);
  }

  notify(method: string, params: Record<string, unknown>): void {
    if (!this.#isAnswered) this.outlet.send(notificationText(method, params));
  }
}

export function notificationText(method: string, params: Record<string, unknown>): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}
