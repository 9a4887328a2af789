import { createHub } from "../index.ts";
import type { Hub, Interact, LoadedConfig, ServerEntry, Workspace } from "../index.ts";
import { painter, safe } from "./terminal/print.ts";
import type { Terminal } from "./terminal/terminal.ts";

export interface HubUse {
  /** Part of what is configured; all of it when absent. */
  config?: LoadedConfig;
  /** Keep servers up and reconnect them, for verbs that stay. */
  eager?: boolean;
  /** Start nothing by itself and let no `required` server fail the whole: for verbs that report failures. */
  tolerant?: boolean;
  /** The account, instead of the configured ones. */
  profile?: string | undefined;
  /** Whoever answers what servers and approvals ask; nobody when absent. */
  interact?: Interact;
}

/** Closing takes a moment when a server does not leave by itself; then a person should know why. */
const noticeMs = 500;

/**
 * Runs `work` with a hub and closes it whatever happens. Servers do not get the terminal's Ctrl-C, so ours closes the
 * hub, which ends them; what `work` still waits for fails then, and the command ends as interrupted.
 */
export async function withHub<T>(
  terminal: Terminal,
  use: HubUse,
  workspace: Workspace,
  work: (hub: Hub, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  using caught = terminal.catchSignals();
  const { signal } = caught;
  const config = use.config ?? (await workspace.load());
  const hub = await createHub(config, {
    ...(await workspace.hubOptions(config)),
    start: false,
    profile: use.profile,
    eager: use.eager ?? false,
    ...(use.interact && { interact: use.interact }),
  });
  const warnings = new Set<string>();
  hub.on("server-log", ({ server, message }) => server === "" && warnings.add(message));
  let notice: NodeJS.Timeout | undefined;
  const onAbort = () => {
    const words = "Ending the servers; Ctrl-C again leaves at once.\n";
    if (terminal.isLive) notice = setTimeout(() => terminal.err(words), noticeMs);
    // Calls in flight hear of the same signal: they tell their servers first.
    setImmediate(() => void hub.close());
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    if (!use.tolerant) await hub.start();
    const result = await work(hub, signal);
    signal.throwIfAborted();
    return result;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await hub.close();
    clearTimeout(notice);
    signal.removeEventListener("abort", onAbort);
    const paint = painter(terminal, "err");
    for (const message of warnings) terminal.err(`${paint("yellow", "warning:")} ${safe(message)}\n`);
  }
}

/** Only the named servers of a configuration (all of them when none is named), as one observer sees them. */
export function onlyServers(config: LoadedConfig, names: readonly string[]): LoadedConfig {
  const chosen = [...config.servers].filter(([name]) => names.length === 0 || names.includes(name));
  return { ...config, servers: new Map(chosen.map(([name, entry]) => [name, shared(entry)])) };
}

/** A server with a connection per call has none to look at between calls, so the observer keeps one. */
function shared(entry: ServerEntry): ServerEntry {
  return entry.config?.isolation === "call"
    ? { ...entry, config: { ...entry.config, isolation: "shared" } }
    : entry;
}
