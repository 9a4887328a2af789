import { isRecord } from "../../lib/record.ts";

/** Requests after which a server is as it was before. */
const harmless: ReadonlySet<unknown> = new Set([
  "completion/complete",
  "initialize",
  "ping",
  "prompts/get",
  "prompts/list",
  "resources/list",
  "resources/read",
  "resources/templates/list",
  "server/discover",
  "subscriptions/listen",
  "tools/call",
  "tools/list",
]);

/** Requests that need not be answered: the probe of servers that ignore it, and what stays open by design. */
const unawaited: ReadonlySet<unknown> = new Set(["server/discover", "subscriptions/listen"]);

/** Follows the messages of one use of a server, to tell whether another command may use it next. In doubt it may not. */
export class UseRecord {
  readonly #open = new Set<unknown>();
  readonly #unawaited = new Set<unknown>();
  #isSpoilt = false;

  get isClean(): boolean {
    return !this.#isSpoilt && this.#open.size === 0;
  }

  /** Something happened that cannot be followed. */
  spoil(): void {
    this.#isSpoilt = true;
  }

  sent(message: object): void {
    const { id, method, params } = message as Record<string, unknown>;
    if (method === undefined) return;
    const { requestId, task } = isRecord(params) ? params : {};
    if (id === undefined) {
      const isEnd = method === "notifications/cancelled" && this.#unawaited.has(requestId);
      if (!isEnd && method !== "notifications/initialized") this.spoil();
      return;
    }
    if (!harmless.has(method) || task !== undefined) this.spoil();
    (unawaited.has(method) ? this.#unawaited : this.#open).add(id);
  }

  received(message: Record<string, unknown>): void {
    const { id, method, result } = message;
    // A server that asks may wait for an answer, or remember who gave it.
    if (method !== undefined && id !== undefined && method !== "ping") this.spoil();
    if (method !== undefined) return;
    this.#open.delete(id);
    // A task goes on after its request, and a server that requires an answer waits for it.
    const { task, resultType = "complete" } = isRecord(result) ? result : {};
    if (task !== undefined || resultType !== "complete") this.spoil();
  }
}
