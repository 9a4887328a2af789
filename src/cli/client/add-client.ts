import { formatById } from "../../config.ts";
import type { ClientComparison, Format, Workspace } from "../../config.ts";
import { PlugboardError } from "../../index.ts";
import type { ServerConfig } from "../../index.ts";
import { joinArgv, shellWord } from "../../lib/argv.ts";
import { count, hanging, json, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { comparisonJson } from "../views/client-comparison.ts";
import { someOf } from "../views/some-of.ts";
import { additionView } from "../views/wiring.ts";
import { assertReadable, mayWrite } from "./consent.ts";
import type { ChangeOptions } from "./consent.ts";
import { gatewayEntry, gatewayName, isGatewayEntry } from "./gateway-entry.ts";
import type { GatewayOptions } from "./gateway-entry.ts";

export interface AddOptions extends ChangeOptions {
  bundle?: string;
  http?: string | true;
}

/** Writes the gateway, or chosen servers, into the files of these clients. */
export async function addToClients(
  clients: readonly string[],
  options: AddOptions,
  workspace: Workspace,
  terminal: Terminal,
): Promise<void> {
  const scope = options.scope ?? "user";
  const plans: ClientComparison[] = [];
  for (const format of clients.map(formatById)) plans.push(await planFor(format, scope, options, workspace));
  if (!options.json) terminal.out(plans.map((plan) => additionView(plan, terminal)).join("\n"));
  assertReadable(plans);
  if (!options.json && options.server === undefined && options.http === undefined)
    await warnOfFolder(workspace, terminal);
  const pending = plans.filter(({ compared }) => compared.changes.length > 0);
  const isKept = plans.some(({ compared }) =>
    compared.servers.some(({ state }) => /^(other|left)$/.test(state)),
  );
  const files = count(pending.length, "file");
  const isDone =
    pending.length > 0 && (await mayWrite(`Write ${files} of other clients?`, options, terminal));
  if (isDone) for (const plan of pending) await workspace.wiring.add(plan);
  if (isKept) terminal.exitCode = 1;
  if (options.json)
    return terminal.out(
      json({ clients: plans.map(comparisonJson), written: isDone ? pending.map(({ file }) => file) : [] }),
    );
  if (pending.length === 0) return terminal.out("Nothing to change.\n");
  if (!isDone) return terminal.out("Nothing was changed.\n");
  for (const { file } of pending) terminal.out(`Wrote ${safe(file)}\n`);
  const ids = [...new Set(pending.map(({ format }) => format.id))];
  const [check, undo] = ["check", "remove"].map((verb) => joinArgv(["plugboard", "client", verb, ...ids]));
  const next = `Restart the client if it is running. \`${check}\` tells whether it works, \`${undo}\` takes it out again.`;
  terminal.out(`${hanging(next, 0, terminal)}\n`);
}

/** A client starts the gateway in a folder of its own. */
async function warnOfFolder(workspace: Workspace, terminal: Terminal): Promise<void> {
  const { servers } = await workspace.load({ allowMissing: true });
  const here = [...servers.values()].filter(({ origin }) => /^(project|local)$/.test(origin.scope));
  if (here.length === 0) return;
  const names = someOf(here.map(({ name }) => name));
  const note = `Servers of this project are there only if the client starts Plugboard in it: ${safe(names)}.`;
  terminal.out(`${hanging(note, 0, terminal)}\n`);
}

async function planFor(
  format: Format,
  scope: "user" | "project",
  options: AddOptions,
  workspace: Workspace,
): Promise<ClientComparison> {
  const config = await workspace.load({ allowMissing: true });
  if (options.server === undefined) {
    const gateway: GatewayOptions = { ...options, scope };
    const servers = [{ name: gatewayName, config: gatewayEntry(format, gateway, workspace, config) }];
    const isOurs = (theirs: ServerConfig) => isGatewayEntry(theirs, workspace);
    return workspace.wiring.plan(format, scope, servers, { isOurs });
  }
  if (options.http !== undefined || options.bundle !== undefined)
    throw new PlugboardError("usage-invalid", "--server cannot be combined with --bundle or --http.", {
      hint: "With --server, the client starts the servers itself, without the gateway.",
    });
  const servers = options.server.map((name) => {
    const { config: ours, status } = workspace.require(config, name);
    const isUsable = status.kind === "ready" || status.reason === "missing-value";
    if (ours && isUsable) return { name, config: ours };
    throw new PlugboardError("usage-invalid", `The server "${name}" cannot be used here.`, {
      server: name,
      hint: `Run \`plugboard explain ${shellWord(name)}\` to see why.`,
    });
  });
  return workspace.wiring.plan(format, scope, servers, { names: await workspace.clientNames() });
}
