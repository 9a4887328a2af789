import { PlugboardError } from "../index.ts";
import type { PlannedBundle, PlannedServer } from "../config.ts";
import { nearest } from "../lib/suggest.ts";
import { count } from "./terminal/print.ts";
import { Interrupted, orCancelled } from "./terminal/signals.ts";
import type { Terminal } from "./terminal/terminal.ts";

const notImported = "Nothing was imported.";

/** Leaves the other servers out. */
export function onlyNamed(planned: PlannedServer[], names: readonly string[] | undefined): PlannedServer[] {
  if (!names) return planned;
  const known = planned.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const near = nearest(unknown, known);
    throw new PlugboardError("server-unknown", `No client that was read has a server "${unknown}".`, {
      hint:
        near === undefined
          ? "Run `plugboard import --dry-run` to see all of them."
          : `Did you mean "${near}"?`,
    });
  }
  return choosing(planned, names);
}

function choosing(planned: readonly PlannedServer[], names: readonly string[]): PlannedServer[] {
  return planned.map((server) =>
    server.action === "add" && !names.includes(server.name) ? { ...server, action: "left" } : server,
  );
}

/** Lets a person choose. Undefined if nothing is to be written: there is nothing new, or the person said no. */
export async function chooseServers(
  plan: Plan,
  options: { yes?: boolean; dryRun?: boolean; json?: boolean },
  terminal: Terminal,
): Promise<PlannedServer[] | undefined> {
  const wanted = wantedOf(plan);
  if (options.dryRun || isEmpty(wanted)) return undefined;
  if (options.yes) return plan.servers;
  if (options.json || !terminal.isInteractive)
    throw new PlugboardError("usage-invalid", "Nothing was imported: there is no terminal to ask in.", {
      hint: "Add --yes to import all of it, --only <server> to choose, or --dry-run to only look.",
    });
  const names = [...new Set(wanted.servers.map(({ name }) => name))];
  if (!terminal.ask || names.length < 2)
    return (await orCancelled(terminal.confirm(`Add ${countOf(wanted)}?`), notImported))
      ? plan.servers
      : undefined;
  const chosen = await terminal.ask.chooseMany(
    {
      message: "Which servers do you want to add?",
      choices: names.map((name) => ({ value: name, label: name, hint: originsOf(name, wanted.servers) })),
      initial: names,
    },
    new AbortController().signal,
  );
  if (chosen === undefined) throw new Interrupted("SIGINT", `Cancelled. ${notImported}`);
  return chosen.length === 0 ? undefined : choosing(plan.servers, chosen);
}

function originsOf(name: string, servers: readonly PlannedServer[]): string {
  const own = servers.filter((server) => server.name === name);
  return `${own[0]?.from.title ?? ""} → ${own.map(({ scope }) => scope).join(", ")}`;
}

export interface Plan {
  servers: PlannedServer[];
  bundles: PlannedBundle[];
}

export function wantedOf({ servers, bundles }: Plan): Plan {
  return {
    servers: servers.filter(({ action }) => action === "add"),
    bundles: bundles.filter(({ action }) => action === "add"),
  };
}

export function isEmpty({ servers, bundles }: Plan): boolean {
  return servers.length + bundles.length === 0;
}

export function countOf({ servers, bundles }: Plan): string {
  // One that is off in this project only has two entries.
  const names = new Set(servers.map(({ name }) => name));
  const counts = [
    ...(names.size > 0 || bundles.length === 0 ? [count(names.size, "server")] : []),
    ...(bundles.length > 0 ? [count(bundles.length, "bundle")] : []),
  ];
  return counts.join(" and ");
}
