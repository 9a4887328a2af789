import { Refusal } from "../index.ts";
import type { Root } from "../host.ts";
import { isRecord } from "../lib/record.ts";
import type { Client } from "./exchange.ts";

/**
 * The roots of a caller, for servers that ask for them outside of any request, as many do when they start. That can be
 * answered if exactly one of the caller's clients has roots; otherwise nobody knows which ones are meant.
 */
export class CallerRoots {
  readonly #clients = new Map<string, Set<Client>>();

  /** Returns how to leave. */
  join(client: Client): () => void {
    const { caller, capabilities } = client;
    if (!isRecord(capabilities["roots"])) return () => undefined;
    const clients = this.#clients.get(caller) ?? new Set();
    this.#clients.set(caller, clients.add(client));
    return () => {
      if (clients.delete(client) && clients.size === 0) this.#clients.delete(caller);
    };
  }

  async ask(caller: string, signal: AbortSignal): Promise<Root[]> {
    const [client, other] = this.#clients.get(caller) ?? [];
    if (!client?.ask) throw new Refusal(-32_601, "Roots are not supported");
    if (other)
      throw new Refusal(-32_000, "Several clients have roots; it cannot be told which ones are meant");
    const { roots } = await client.ask({ method: "roots/list", params: {}, signal }, undefined);
    if (!Array.isArray(roots)) throw new Refusal(-32_602, "The client sent no list of roots");
    return roots as Root[];
  }
}
