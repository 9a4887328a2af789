import { setTimeout as sleep } from "node:timers/promises";
import { untilAborted } from "../../lib/abortable.ts";
import { startDeadline } from "../../lib/deadline.ts";
import { isRecord } from "../../lib/record.ts";
import type { Method } from "../core.ts";
import { viewOf } from "../exchange.ts";
import type { Exchange } from "../exchange.ts";
import type { Ledger } from "../ledger.ts";
import { metaKeys } from "../envelope.ts";
import { inUse } from "../holding.ts";
import { invalidParams } from "../failure.ts";
import { ownerOf } from "../resource-owners.ts";
import { declaresTasks, missingTasks } from "../tasks/protocols.ts";

/** How long the acknowledgement waits for servers to refuse. Those that have not by then are asked until they accept. */
const refusalMs = 250;
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/** Tells a modern client of changes until it goes away. Acknowledged first, and every message names the subscription. */
export const listen: Method = async (exchange, { ledger }) => {
  const { client, params, signal, id } = exchange;
  const { notifications: wanted } = params.value;
  if (!isRecord(wanted)) throw invalidParams("`notifications` must be an object.");
  if (wanted["taskIds"] !== undefined && !declaresTasks(client)) throw missingTasks();
  const kinds = (["tools", "prompts", "resources"] as const).filter(
    (kind) => wanted[`${kind}ListChanged`] === true,
  );
  const { resourceSubscriptions: uris } = wanted;
  const asked = Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [];
  const { endpoint } = client;
  const subscription = new Subscription(exchange, ledger);
  const stop = endpoint.onChange(
    client.caller,
    (kind) => kinds.includes(kind) && subscription.tellList(kind),
  );
  for (const kind of endpoint.listening(client)) if (kinds.includes(kind)) subscription.tellList(kind);
  await subscription.watch(asked);
  subscription.acknowledge(kinds);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  stop();
  endpoint.endedListening(client);
  subscription.end();
  return { result: { resultType: "complete", _meta: { [metaKeys.subscription]: id } } };
};

/** One `subscriptions/listen` of a client. What happens before it is acknowledged is told after that. */
class Subscription {
  readonly #exchange: Exchange;
  readonly #ledger: Ledger;
  /** By what is told, so that each is told once. */
  readonly #early = new Map<string, () => void>();
  readonly #watched = new Set<string>();
  readonly #stops: (() => void)[] = [];
  #isAcknowledged = false;

  constructor(exchange: Exchange, ledger: Ledger) {
    this.#exchange = exchange;
    this.#ledger = ledger;
  }

  tellList(kind: string): void {
    this.#tell(`notifications/${kind}/list_changed`);
  }

  /** Resolves when each resource's server has accepted or refused, or is taking its time. */
  async watch(uris: readonly string[]): Promise<void> {
    for (const uri of uris) if (this.#mayWatch(uri)) this.#watched.add(uri);
    const watching = Promise.all([...this.#watched].map((uri) => this.#watch(uri)));
    using patience = startDeadline(refusalMs);
    const until = AbortSignal.any([this.#exchange.signal, patience.signal]);
    await untilAborted(watching, until).catch(() => undefined);
  }

  /** What is not acknowledged is not honoured; the client sees which. */
  acknowledge(kinds: readonly string[]): void {
    const honoured = {
      ...Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true])),
      ...(this.#watched.size > 0 && { resourceSubscriptions: [...this.#watched] }),
    };
    this.#isAcknowledged = true;
    this.#tell("notifications/subscriptions/acknowledged", { notifications: honoured });
    for (const tell of this.#early.values()) tell();
    this.#early.clear();
  }

  end(): void {
    for (const stop of this.#stops) stop();
  }

  #mayWatch(uri: string): boolean {
    if (this.#watched.has(uri)) return true;
    const holding = this.#ledger.hold(this.#exchange.client.caller, "subscriptions", inUse, uri.length);
    if (holding) this.#stops.push(() => holding.release());
    return holding !== undefined;
  }

  async #watch(shown: string): Promise<void> {
    const { client, signal } = this.#exchange;
    const tell = () => this.#tell("notifications/resources/updated", { uri: shown });
    for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(longestPauseMs, 2 * pauseMs)) {
      try {
        const { server, uri } = await ownerOf(shown, client, signal);
        const stop = await viewOf(client).subscribeResource(server, uri, tell, { signal });
        if (signal.aborted) return void stop();
        this.#stops.push(() => void stop());
        // It may have changed since the client was told that it is watched.
        if (this.#isAcknowledged) tell();
        return;
      } catch {
        if (!this.#isAcknowledged) return void this.#watched.delete(shown);
        await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  #tell(method: string, content: Record<string, unknown> = {}): void {
    const { id } = this.#exchange;
    const tell = () => this.#exchange.notify(method, { ...content, _meta: { [metaKeys.subscription]: id } });
    if (this.#isAcknowledged) tell();
    else this.#early.set(JSON.stringify([method, content]), tell);
  }
}
