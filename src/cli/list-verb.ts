import type { Hub, View } from "../index.ts";
import { knownServer } from "./known-server.ts";
import { prepareLists, reportLists } from "./known-lists.ts";
import type { ListUse } from "./known-lists.ts";
import { noServersText } from "./no-servers.ts";
import { json } from "./print.ts";
import { reportDiagnostics } from "./report.ts";
import type { Terminal } from "./terminal.ts";
import { withWorkspace } from "./verb.ts";
import type { CommonOptions } from "./verb.ts";
import { withHub } from "./with-hub.ts";

export interface ListOptions extends CommonOptions {
  refresh?: boolean;
}

/** What servers offer, for a program and for a person. */
export interface Shown {
  value: Record<string, unknown>;
  text: string;
}

/** Runs a verb that lists what servers offer: from what is remembered, with a word on its age and on failures. */
export function runList(
  server: string | undefined,
  options: ListOptions,
  kinds: ListUse["kinds"],
  terminal: Terminal,
  show: (view: View) => Promise<Shown>,
): Promise<void> {
  return withWorkspace(terminal, options, async (workspace) => {
    const config = await workspace.load();
    if (!options.json) reportDiagnostics(config.diagnostics, terminal);
    if (config.servers.size === 0 && !options.json) return terminal.out(noServersText);
    await withHub(terminal, { config, tolerant: true }, workspace, (hub) =>
      showList(hub, server, options, kinds, terminal, show),
    );
  });
}

export async function showList(
  hub: Hub,
  server: string | undefined,
  options: ListOptions,
  kinds: ListUse["kinds"],
  terminal: Terminal,
  show: (view: View) => Promise<Shown>,
): Promise<void> {
  // A server that is named must be one, and one that may be used; otherwise connecting says why not.
  if (server !== undefined && knownServer(hub.config, server).status.kind !== "ready")
    await hub.connect(server);
  const outcome = await prepareLists(hub, { kinds, server, refresh: options.refresh }, terminal);
  const { states, failures } = outcome;
  const { value, text } = await show(server === undefined ? hub : hub.view({ servers: [server] }));
  if (failures.some(({ level }) => level === "problem")) terminal.exitCode = 5;
  if (options.json) return terminal.out(json({ ...value, servers: states, failures }));
  terminal.out(text);
  reportLists(hub, outcome, terminal);
}
