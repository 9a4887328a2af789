import type { LastFailure } from "../config.ts";
import { errorTable } from "../host.ts";
import { isPlugboardError } from "../index.ts";
import type { Hub, View } from "../index.ts";
import { knownServer } from "./find.ts";
import { prepareLists, reportLists } from "./known-lists.ts";
import type { ListUse } from "./known-lists.ts";
import { noServersText } from "./views/server.ts";
import { json } from "./terminal/print.ts";
import { assertAccounts } from "./arguments/profile.ts";
import { exitCodeOfMistakes, reportDiagnostics } from "./terminal/report.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { loginAnswers } from "./terminal/answers.ts";
import { oneOffServer } from "./one-off.ts";
import type { ServerOptions } from "./server-verb.ts";
import { withWorkspace } from "./verb.ts";
import { loadForUse, withHub } from "./with-hub.ts";

export interface ListOptions extends ServerOptions {
  refresh?: boolean;
}

/** A list as JSON and as text. */
export interface Shown {
  value: Record<string, unknown>;
  /** Empty if there is nothing to list. */
  text: string;
  /** Printed in place of the text if nothing is listed at all. */
  nothing: string;
  /** Printed once, after everything. */
  end?: string;
}

/** Why servers failed in earlier commands. */
export type Failures = () => Promise<ReadonlyMap<string, LastFailure>>;

/** What a verb lists, for one server or for all. */
export interface Listing {
  server: string | undefined;
  options: ListOptions;
  kinds: ListUse["kinds"];
  /** True if `show` sets the exit code: that some of all servers failed is only a note. */
  isBestEffort?: boolean;
  /** With a mark, the text says so where it names the server. */
  show(view: View, mark?: string): Promise<Shown>;
}

/** Runs a verb that lists what servers offer. Uses remembered lists, and reports their age and any failures. */
export function runList(listing: Listing, terminal: Terminal): Promise<void> {
  return withServers(listing, terminal, (hub, failures) => showList(hub, listing, failures, terminal));
}

/**
 * Runs `work` with the configured servers without starting them. If there are none and none was named, explains how to
 * add one.
 */
export function withServers(
  { options, server }: Pick<Listing, "options" | "server">,
  terminal: Terminal,
  work: (hub: Hub, failures: Failures) => Promise<void>,
): Promise<void> {
  const { json: asJson, profile } = options;
  return withWorkspace(terminal, options, async (workspace) => {
    const config = await loadForUse(workspace, options);
    if (!asJson) reportDiagnostics(config.diagnostics, terminal, options.config);
    if (config.servers.size === 0 && server === undefined && !asJson) return terminal.out(noServersText);
    const interact = asJson ? {} : loginAnswers(terminal);
    const use = { config, tolerant: true, interact, profile, insight: options };
    const failures = () => workspace.failures.list(config, { profile });
    await withHub(terminal, use, workspace, (hub) => work(hub, failures));
  });
}

export async function showList(
  hub: Hub,
  listing: Listing,
  failures: Failures,
  terminal: Terminal,
): Promise<void> {
  const { options, kinds } = listing;
  const { profile } = options;
  const isOneOff = oneOffServer(options) !== undefined;
  const [only] = isOneOff ? hub.config.servers.keys() : [];
  const server = listing.server ?? only;
  if (server !== undefined) {
    const entry = knownServer(hub.config, server);
    assertAccounts(entry, profile);
    // A server that was named must be usable; if it is not, connecting throws the reason.
    if (entry.status.kind !== "ready") await hub.connect(server);
  }
  // Whoever names a server wants to know how it is now.
  const known = server === undefined ? await failures() : undefined;
  const use = { kinds, server, refresh: options.refresh ?? isOneOff, failures: known };
  // On a screen, what is remembered does not wait for a server that hangs. Files and programs get one list, in order.
  let isShown = false;
  const onListed = async (view: View, isLate: boolean) => {
    const { text } = await listing.show(view, isLate ? "new" : undefined);
    isShown ||= text !== "";
    return text;
  };
  const first = await prepareLists(
    hub,
    use,
    terminal,
    terminal.isScreen && !options.json && server === undefined ? onListed : undefined,
  );
  // Connecting offers a login. A list of all servers does not, to avoid one question per server.
  const hasLoggedIn = server !== undefined && needsLogin(hub, server) && (await tryConnect(hub, server));
  const outcome = hasLoggedIn ? await prepareLists(hub, use, terminal) : first;
  const { states } = outcome;
  const found = [...outcome.failures, ...outcome.leftOut];
  const shown = await listing.show(server === undefined ? hub : hub.view({ servers: [server] }));
  const problem = found.find(({ level }) => level === "problem");
  const isNote = listing.isBestEffort && server === undefined;
  if (problem && !isNote) terminal.exitCode = errorTable[problem.code ?? "not-responding"].exitCode;
  // Nothing is listed because nothing can be used: a mistake in the configuration is then a failure.
  if (states.length === 0) terminal.exitCode ||= exitCodeOfMistakes(hub.config.diagnostics);
  if (options.json) return terminal.out(json({ ...shown.value, servers: states, failures: found }));
  // What could not be asked for may well be there.
  if (!isShown) terminal.out(shown.text || (problem ? "" : shown.nothing));
  terminal.out(shown.end ?? "");
  reportLists(hub, outcome, terminal, options.config);
}

function needsLogin(hub: Hub, server: string): boolean {
  return hub.status().some(({ name, state }) => name === server && state === "needs-auth");
}

async function tryConnect(hub: Hub, server: string): Promise<boolean> {
  return hub.connect(server).then(
    () => true,
    (error: unknown) => {
      if (isPlugboardError(error, "auth-required")) return false;
      throw error;
    },
  );
}
