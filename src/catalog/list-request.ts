import { isPlugboardError } from "../errors.ts";
import type { PlugboardError } from "../errors.ts";
import { isRecord } from "../lib/record.ts";
import type { JsonRpcAnswer } from "../servers/rpc/messages.ts";
import type { ListKind } from "./known-list.ts";
import { readPages } from "./pages.ts";
import type { ReadList } from "./pages.ts";

/** Fetches one server's lists. */
export interface ListSource {
  server: string;
  /** How long a list stays valid if the server does not say. */
  ttlMs: number;
  /** Connects if necessary and returns the server's capabilities. */
  capabilities(signal: AbortSignal): Promise<Record<string, unknown>>;
  ask(method: string, params: Record<string, unknown>, signal: AbortSignal): Promise<JsonRpcAnswer>;
  /** Waits before the next question. Also over when the connection is ended, or nobody waits for the list any more. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** The number of the current session; undefined if there is none. */
  session(): number | undefined;
  /** Why the server has not started in this run, if it has failed. */
  trouble(): PlugboardError | undefined;
  /** True if the server was reset or has reconnected since the failure, so that asking again makes sense. */
  isAnew(failedSession: number | undefined): boolean;
  now(): number;
}

const methods: Record<ListKind, { method: string; capability: string }> = {
  tools: { method: "tools/list", capability: "tools" },
  resources: { method: "resources/list", capability: "resources" },
  resourceTemplates: { method: "resources/templates/list", capability: "resources" },
  prompts: { method: "prompts/list", capability: "prompts" },
};

const none: ReadList & { tellsChanges: boolean } = { entries: [], hashes: [], size: 0, tellsChanges: true };

/**
 * Reads a list page by page, and says whether the server tells of its changes. Calls `onAsked` before each attempt.
 * Reading has no side effects, so it is repeated once: at once if the connection breaks, and soon if the server, or what
 * stands before it, says that it is not available. A server that says when to come back is not asked before that.
 */
export async function requestList(
  kind: ListKind,
  source: ListSource,
  signal: AbortSignal,
  onAsked: () => void,
): Promise<ReadList & { tellsChanges: boolean }> {
  const { method, capability } = methods[kind];
  for (let attempt = 0; ; attempt++) {
    const capabilities = await source.capabilities(signal);
    signal.throwIfAborted();
    onAsked();
    const offered = capabilities[capability];
    if (!offered) return none;
    const tellsChanges = isRecord(offered) && offered["listChanged"] === true;
    try {
      const read = await readPages(source.server, kind, (params) => source.ask(method, params, signal));
      return { ...read, tellsChanges };
    } catch (error) {
      // Servers with resources need not support templates.
      if (kind === "resourceTemplates" && isPlugboardError(error, "protocol-error")) return none;
      const pauseMs = attempt > 0 || signal.aborted ? undefined : pauseAfter(error);
      if (pauseMs === undefined) throw error;
      if (pauseMs > 0) await source.wait(pauseMs, signal);
      signal.throwIfAborted();
    }
  }
}

const shortPauseMs = 200;
/** A server that wants to be left alone for longer is asked later, and nobody waits for that. */
const longestPauseMs = 5_000;

/** How long to wait before the second attempt; undefined if it would be of no use, or is too far away. */
function pauseAfter(error: unknown): number | undefined {
  if (!isPlugboardError(error)) return undefined;
  if (error.code === "connection-lost" || error.code === "server-exited") return 0;
  const { retryAfterMs = shortPauseMs, data } = error;
  const isOutage = error.code === "rate-limited" || (data?.status ?? 0) >= 500;
  return isOutage && retryAfterMs <= longestPauseMs ? retryAfterMs : undefined;
}
