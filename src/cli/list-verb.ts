import { errorTable, isPlugboardError } from "../index.ts";
import type { Hub, View } from "../index.ts";
import { knownServer } from "./find.ts";
import { prepareLists, reportLists } from "./known-lists.ts";
import type { ListUse } from "./known-lists.ts";
import { noServersText } from "./views/server.ts";
import { json } from "./terminal/print.ts";
import { assertAccounts } from "./arguments/profile.ts";
import type { ProfileOptions } from "./arguments/profile.ts";
import { reportDiagnostics } from "./terminal/report.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { loginAnswers } from "./terminal/answers.ts";
import { withWorkspace } from "./verb.ts";
import { loadForUse, withHub } from "./with-hub.ts";

export interface ListOptions extends ProfileOptions {
  refresh?: boolean;
}

/** A list as JSON and as text. */
export interface Shown {
  value: Record<string, unknown>;
  text: string;
}

/** What a verb lists, for one server or for all. */
export interface Listing {
  server: string | undefined;
  options: ListOptions;
  kinds: ListUse["kinds"];
  show(view: View): Promise<Shown>;
}

/** Runs a verb that lists what servers offer. Uses remembered lists, and reports their age and any failures. */
export function runList(listing: Listing, terminal: Terminal): Promise<void> {
  return withServers(listing, terminal, (hub) => showList(hub, listing, terminal));
}

/**
 * Runs `work` with the configured servers without starting them. If there are none and none was named, explains how to
 * add one.
 */
export function withServers(
  { options, server }: Pick<Listing, "options" | "server">,
  terminal: Terminal,
  work: (hub: Hub) => Promise<void>,
): Promise<void> {
  const { json: asJson, profile } = options;
  return withWorkspace(terminal, options, async (workspace) => {
    const config = await loadForUse(workspace);
    if (!asJson) reportDiagnostics(config.diagnostics, terminal);
    if (config.servers.size === 0 && server === undefined && !asJson) return terminal.out(noServersText);
    const interact = asJson ? {} : loginAnswers(terminal);
    await withHub(terminal, { config, tolerant: true, interact, profile }, workspace, work);
  });
}

export async function showList(hub: Hub, listing: Listing, terminal: Terminal): Promise<void> {
  const { server, options, kinds } = listing;
  const { refresh, profile } = options;
  if (server !== undefined) {
    const entry = knownServer(hub.config, server);
    assertAccounts(entry, profile);
    // A server that was named must be usable; if it is not, connecting throws the reason.
    if (entry.status.kind !== "ready") await hub.connect(server);
  }
  const use = { kinds, server, refresh };
  const first = await prepareLists(hub, use, terminal);
  // Connecting offers a login. A list of all servers does not, to avoid one question per server.
  const hasLoggedIn = server !== undefined && needsLogin(hub, server) && (await tryConnect(hub, server));
  const outcome = hasLoggedIn ? await prepareLists(hub, use, terminal) : first;
  const { states, failures } = outcome;
  const { value, text } = await listing.show(server === undefined ? hub : hub.view({ servers: [server] }));
  const problem = failures.find(({ level }) => level === "problem");
  if (problem) terminal.exitCode = errorTable[problem.code ?? "not-responding"].exitCode;
  if (options.json) return terminal.out(json({ ...value, servers: states, failures }));
  terminal.out(text);
  reportLists(hub, outcome, terminal);
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
