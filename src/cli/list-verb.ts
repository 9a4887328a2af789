import { isPlugboardError } from "../index.ts";
import type { Hub, View } from "../index.ts";
import { knownServer } from "./known-server.ts";
import { prepareLists, reportLists } from "./known-lists.ts";
import type { ListUse } from "./known-lists.ts";
import { noServersText } from "./views/no-servers.ts";
import { json } from "./terminal/print.ts";
import { assertAccounts } from "./arguments/profile.ts";
import type { ProfileOptions } from "./arguments/profile.ts";
import { reportDiagnostics } from "./terminal/report.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { loginAnswers } from "./terminal/terminal-answers.ts";
import { withWorkspace } from "./verb.ts";
import { withHub } from "./with-hub.ts";

export interface ListOptions extends ProfileOptions {
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
    const interact = options.json ? {} : loginAnswers(terminal);
    await withHub(
      terminal,
      { config, tolerant: true, interact, profile: options.profile },
      workspace,
      (hub) => showList(hub, server, options, kinds, terminal, show),
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
  const { refresh, profile } = options;
  if (server !== undefined) {
    const entry = knownServer(hub.config, server);
    assertAccounts(entry, profile);
    // One that is named must be one that may be used; otherwise connecting says why not.
    if (entry.status.kind !== "ready") await hub.connect(server);
  }
  const use = { kinds, server, refresh };
  const first = await prepareLists(hub, use, terminal);
  // Connecting lets a person log in; who lists everything is not asked for each server.
  const isNew = server !== undefined && needsLogin(hub, server) && (await connects(hub, server));
  const outcome = isNew ? await prepareLists(hub, use, terminal) : first;
  const { states, failures } = outcome;
  const { value, text } = await show(server === undefined ? hub : hub.view({ servers: [server] }));
  if (failures.some(({ level }) => level === "problem")) terminal.exitCode = 5;
  if (options.json) return terminal.out(json({ ...value, servers: states, failures }));
  terminal.out(text);
  reportLists(hub, outcome, terminal);
}

function needsLogin(hub: Hub, server: string): boolean {
  return hub.status().some(({ name, state }) => name === server && state === "needs-auth");
}

async function connects(hub: Hub, server: string): Promise<boolean> {
  return hub.connect(server).then(
    () => true,
    (error: unknown) => {
      if (isPlugboardError(error, "auth-required")) return false;
      throw error;
    },
  );
}
