import { isPlugboardError } from "../errors.ts";
import type { PlugboardError } from "../errors.ts";
import type { JsonRpcAnswer } from "../servers/rpc/messages.ts";
import type { ListKind } from "./known-list.ts";
import { readPages } from "./pages.ts";
import type { ReadList } from "./pages.ts";

/** How one server is asked for its lists. */
export interface ListSource {
  server: string;
  /** What a list is good for when the server does not say. */
  ttlMs: number;
  /** Connects if need be, and says what the server can do. */
  capabilities(signal: AbortSignal): Promise<Record<string, unknown>>;
  ask(method: string, params: Record<string, unknown>, signal: AbortSignal): Promise<JsonRpcAnswer>;
  /** The number of the running session; undefined while there is none. */
  session(): number | undefined;
  /** Why the server has not come up in this run, once it has failed to. */
  trouble(): PlugboardError | undefined;
  /** True when asking again is another matter than the time that failed: the server was reset or has connected anew. */
  isAnew(failedSession: number | undefined): boolean;
  now(): number;
}

const methods: Record<ListKind, { method: string; capability: string }> = {
  tools: { method: "tools/list", capability: "tools" },
  resources: { method: "resources/list", capability: "resources" },
  resourceTemplates: { method: "resources/templates/list", capability: "resources" },
  prompts: { method: "prompts/list", capability: "prompts" },
};

const none: ReadList = { entries: [], hashes: [], size: 0 };

/**
 * Asks for a list, page by page; `onAsked` is called whenever the question is about to be sent. Reading harms nobody, so
 * it is done once more when the connection breaks in the middle of it.
 */
export async function requestList(
  kind: ListKind,
  source: ListSource,
  signal: AbortSignal,
  onAsked: () => void,
): Promise<ReadList> {
  const { method, capability } = methods[kind];
  for (let attempt = 0; ; attempt++) {
    const capabilities = await source.capabilities(signal);
    signal.throwIfAborted();
    onAsked();
    if (!capabilities[capability]) return none;
    try {
      return await readPages(source.server, kind, (params) => source.ask(method, params, signal));
    } catch (error) {
      // Templates are optional even where resources are not.
      if (kind === "resourceTemplates" && isPlugboardError(error, "protocol-error")) return none;
      if (attempt > 0 || signal.aborted || !isLost(error)) throw error;
    }
  }
}

function isLost(error: unknown): boolean {
  return isPlugboardError(error, "connection-lost") || isPlugboardError(error, "server-exited");
}
