import type { Command } from "commander";
import { PlugboardError, describeOrigin } from "../../index.ts";
import type { LoadedConfig, ServerEntry, Workspace } from "../../index.ts";
import { json, painter, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { trustView } from "../views/trust.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

interface TrustOptions extends CommonOptions {
  yes?: boolean;
  list?: boolean;
  revoke?: boolean;
}

export function command(terminal: Terminal): Command {
  return verb(
    "trust",
    "Review what a project's files would start or contact, and allow it. Changes must be allowed again.",
    ["trust", "trust files", "trust --list", "trust files --revoke"],
  )
    .argument("[names...]", "the servers to review (default: all that are not trusted yet)")
    .option("-y, --yes", "allow without asking")
    .option("--list", "only show what is not trusted yet")
    .option("--revoke", "revoke the trust")
    .action(async (names: string[], options: TrustOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await workspace.load();
        const chosen = names.map((name) => workspace.require(config, name));
        if (options.revoke) return revoke(chosen, workspace, options, terminal);
        const waiting =
          names.length > 0 ? chosen.filter(isWaiting) : [...config.servers.values()].filter(isWaiting);
        const settings = names.length > 0 ? [] : waitingSettings(config);
        if (options.list) return list(waiting, settings, options, terminal);
        if (waiting.length === 0 && settings.length === 0) {
          return terminal.out(
            options.json ? json({ trusted: [], declined: [] }) : "Nothing here needs your trust.\n",
          );
        }
        await ask(waiting, settings, workspace, options, terminal);
      }),
    );
}

interface WaitingSettings {
  file: string;
  settings: Record<string, unknown>;
}

function isWaiting({ status }: ServerEntry): boolean {
  return status.kind === "disabled" && status.reason === "untrusted";
}

function waitingSettings({ sources }: LoadedConfig): WaitingSettings[] {
  return sources.flatMap(({ file, untrustedSettings: settings }) =>
    file && settings ? [{ file, settings }] : [],
  );
}

async function ask(
  waiting: ServerEntry[],
  settings: WaitingSettings[],
  workspace: Workspace,
  options: TrustOptions,
  terminal: Terminal,
): Promise<void> {
  if (!options.yes && !terminal.isInteractive) {
    throw new PlugboardError("untrusted", "Cannot ask for confirmation without a terminal.", {
      hint: "Run `plugboard trust` in a terminal, or review `plugboard trust --list` and pass --yes.",
    });
  }
  const trusted: string[] = [];
  const declined: string[] = [];
  const decide = async (label: string, view: string, allow: () => Promise<void>) => {
    if (!options.json) terminal.out(view);
    const isAllowed = options.yes || (await terminal.confirm(`Allow ${label}?`));
    if (isAllowed) await allow();
    (isAllowed ? trusted : declined).push(label);
  };
  for (const entry of waiting) {
    await decide(safe(entry.name), trustView(entry, terminal), () => workspace.trust(entry));
  }
  for (const { file, settings: values } of settings) {
    const view = `${safe(file)} sets ${Object.keys(values).join(", ")}:\n${safe(JSON.stringify(values))}\n`;
    await decide(`the settings of ${safe(file)}`, view, () => workspace.trustSettings(values, file));
  }
  if (options.json) return terminal.out(json({ trusted, declined }));
  const paint = painter(terminal);
  if (trusted.length > 0)
    terminal.out(
      `${paint("green", "Trusted")} ${trusted.join(", ")}. You will be asked again after any change.\n`,
    );
  if (declined.length > 0) terminal.out(`Not trusted: ${declined.join(", ")}.\n`);
}

function list(
  waiting: ServerEntry[],
  settings: WaitingSettings[],
  options: TrustOptions,
  terminal: Terminal,
): void {
  if (options.json) {
    const servers = waiting.map(({ name, origin, written }) => ({ name, ...origin, entry: written }));
    return terminal.out(json({ servers, settings }));
  }
  for (const entry of waiting) terminal.out(trustView(entry, terminal));
  for (const { file, settings: values } of settings)
    terminal.out(`${safe(file)} sets ${Object.keys(values).join(", ")}\n`);
  if (waiting.length === 0 && settings.length === 0) terminal.out("Nothing here needs your trust.\n");
}

async function revoke(
  chosen: ServerEntry[],
  workspace: Workspace,
  options: TrustOptions,
  terminal: Terminal,
): Promise<void> {
  if (chosen.length === 0)
    throw new PlugboardError("usage-invalid", "--revoke requires the name of a server.");
  const revoked: string[] = [];
  for (const entry of chosen) if (await workspace.distrust(entry)) revoked.push(entry.name);
  if (options.json) return terminal.out(json({ revoked }));
  for (const { name, origin } of chosen) {
    const words = revoked.includes(name)
      ? "is no longer trusted"
      : `was not trusted here (${describeOrigin(origin)})`;
    terminal.out(`${safe(name)} ${safe(words)}.\n`);
  }
}
