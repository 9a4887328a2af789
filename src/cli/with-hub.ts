import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { assertNoLostRule, lostRule } from "../config.ts";
import { createHub, isPlugboardError } from "../index.ts";
import type { ServerEntry, Workspace } from "../config.ts";
import type { IssuerChosen } from "../host.ts";
import type { Hub, Interact, LoadedConfig } from "../index.ts";
import { openInsight } from "./insight.ts";
import type { InsightOptions } from "./insight.ts";
import { oneOffServer } from "./one-off.ts";
import type { OneOffOptions } from "./one-off.ts";
import { registeredTelemetry } from "./registered-telemetry.ts";
import { painter, safe } from "./terminal/print.ts";
import { diagnosticLine, exitCodeOfMistakes } from "./terminal/report.ts";
import type { Terminal } from "./terminal/terminal.ts";

export interface HubUse {
  /** The servers to use. Default: all of them. */
  config?: LoadedConfig;
  /** Keep servers running and reconnect them, for verbs that keep running. */
  eager?: boolean;
  /** Start nothing up front and do not fail because of a `required` server: for verbs that report failures. */
  tolerant?: boolean;
  /** Only look: start nothing, and go on with the rest if a configuration file cannot be read. */
  isLooking?: boolean;
  /** Start servers anew, also those that an earlier command left, for verbs that report how they start. */
  isFresh?: boolean;
  /** The account to use instead of the configured one. */
  profile?: string | undefined;
  /** Answers questions from servers and approval requests. Without it they are declined. */
  interact?: Interact;
  /** What to show of the exchange with the servers. */
  insight?: InsightOptions;
}

/** A server that does not exit by itself delays closing. After this long, tell the user why. */
const noticeMs = 500;

/**
 * Runs `work` with a hub and always closes it. Servers do not receive the terminal's Ctrl-C, so ours closes the hub,
 * which stops them. Pending work then fails, and the command exits as interrupted.
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
  // A server that is named on the command line is in no file.
  const isConfigured = config.sources.some(({ file }) => file !== undefined);
  const isLooking = use.isLooking ?? false;
  const { telemetry, flush } = await registeredTelemetry(workspace.env, terminal);
  using insight = openInsight(use.insight ?? {}, terminal);
  const hub = await createHub(config, {
    ...(await workspace.hubOptions(config)),
    ...insight.hubOptions,
    telemetry,
    start: false,
    lostRules: isLooking ? "ignore" : "refuse",
    lastingHandles: true,
    rememberLists: isConfigured,
    profile: use.profile,
    eager: use.eager ?? false,
    ...(mayStay(use) && { warm: workspace.warm.place(brokerProgram) }),
    interact: { elicit: declineFor(terminal), ...use.interact },
  });
  insight.watch(hub);
  using _recorded = isLooking ? undefined : workspace.logs.record(hub);
  const warnings = new Set<string>();
  hub.on("server-log", ({ server, message }) => server === "" && warnings.add(message));
  // Printed right away, because the secret is about to be sent.
  hub.on("issuer-chosen", (event) => terminal.err(`${safe(issuerWords(event))}\n`));
  hub.on("question-answered", ({ remembered, notKept }) => {
    if (notKept === undefined) return;
    const until = remembered === "session" ? "until this program ends" : "for this call only";
    terminal.err(`${safe(`Your answer holds ${until}, because ${notKept}.`)}\n`);
  });
  let notice: NodeJS.Timeout | undefined;
  const onAbort = () => {
    const words = "Stopping the servers. Press Ctrl-C again to exit now.\n";
    if (terminal.isLive || terminal.isErrLive) notice = setTimeout(() => terminal.err(words), noticeMs);
    // Calls in flight see the same signal and notify their servers first.
    setImmediate(() => void hub.close());
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    if (!use.tolerant && !isLooking) await hub.start();
    const result = await work(hub, signal);
    signal.throwIfAborted();
    return result;
  } catch (error) {
    signal.throwIfAborted();
    throw isConfigured ? error : withoutNames(error);
  } finally {
    await hub.close();
    const unsent = await flush();
    if (unsent) warnings.add(`${unsent.message} ${unsent.hint}`);
    clearTimeout(notice);
    signal.removeEventListener("abort", onAbort);
    const paint = painter(terminal, "err");
    for (const message of warnings) terminal.err(`${paint("yellow", "warning:")} ${safe(message)}\n`);
  }
}

/** A hint with a command that names a configured server does not help where none is. */
function withoutNames(error: unknown): unknown {
  if (!isPlugboardError(error) || !/`plugboard /.test(error.hint)) return error;
  return error.with({ hint: "" });
}

/**
 * Every verb declares that it can be asked, whoever is there: servers offer other tools to clients that cannot, and what
 * `tools` lists is what `call` can call.
 */
function declineFor(terminal: Terminal): NonNullable<Interact["elicit"]> {
  return async ({ server }) => {
    terminal.err(
      `note: ${safe(`"${server}" asked for input. Nobody can answer here, so it was declined.`)}\n`,
    );
    return { action: "decline" };
  };
}

/** What lives as long as we do, or is only looked at, does not need the broker. */
function mayStay({ eager, isLooking, isFresh }: HubUse): boolean {
  return !eager && !isLooking && !isFresh;
}

/** Beside this folder in the sources and in the package. */
const brokerProgram = join(
  dirname(fileURLToPath(import.meta.url)),
  `../servers/warm/main${extname(fileURLToPath(import.meta.url))}`,
);

function issuerWords({ server, issuer, endpoints, sends }: IssuerChosen): string {
  const elsewhere = endpoints.filter((origin) => origin !== URL.parse(issuer)?.origin);
  const where = elsewhere.length > 0 ? `${issuer} (at ${elsewhere.join(", ")})` : issuer;
  const what = `The ${sends.join(" and the ")} for ${server} will be sent to ${where}`;
  return `note: ${what}, which the server named; it is not configured. From now on it is sent nowhere else. To choose it yourself, set \`oauth.issuer\`.`;
}

/**
 * The configuration for a verb that uses servers: what is configured, or only the server that the options name. Refuses
 * if rules of the user are missing in it. For `secrets`, see `Workspace.load`.
 */
export async function loadForUse(
  workspace: Workspace,
  options: OneOffOptions,
  known: { secrets?: boolean } = {},
): Promise<LoadedConfig> {
  const oneOff = oneOffServer(options);
  if (oneOff) return workspace.oneOff(oneOff.name, oneOff.written);
  const config = await workspace.load(known);
  assertNoLostRule(config);
  return config;
}

/** Shows a verb that only looks what it looks past. What it shows is then not the whole, so it fails. */
export function reportLostRule(config: LoadedConfig, terminal: Terminal): void {
  const mistake = lostRule(config);
  if (!mistake) return;
  terminal.err(diagnosticLine(mistake, terminal));
  terminal.exitCode = exitCodeOfMistakes([mistake]);
}

/** Limits a configuration to the named servers, or to all if none is named, with connections that can be observed. */
export function onlyServers(config: LoadedConfig, names: readonly string[]): LoadedConfig {
  const chosen = [...config.servers].filter(([name]) => names.length === 0 || names.includes(name));
  return { ...config, servers: new Map(chosen.map(([name, entry]) => [name, withSharedConnection(entry)])) };
}

/** A server with one connection per call has none to show between calls, so it gets a withSharedConnection one here. */
function withSharedConnection(entry: ServerEntry): ServerEntry {
  return entry.config?.isolation === "call"
    ? { ...entry, config: { ...entry.config, isolation: "shared" } }
    : entry;
}
