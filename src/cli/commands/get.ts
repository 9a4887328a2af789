import type { Command } from "commander";
import { describeOrigin, storedAccount } from "../../config.ts";
import type { ServerEntry, Workspace } from "../../config.ts";
import type { Account } from "../../index.ts";
import { joinArgv } from "../../lib/argv.ts";
import { accountLine } from "../views/account.ts";
import { hanging, json, painter, safe } from "../terminal/print.ts";
import { diagnosticLine } from "../terminal/report.ts";
import { describeServer } from "../views/server.ts";
import { assertAccounts, profileOf, profileOption } from "../arguments/profile.ts";
import type { ProfileOptions } from "../arguments/profile.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import { reportLostRule } from "../with-hub.ts";

export function command(terminal: Terminal): Command {
  return verb("get", "Show one server's configuration, with references unexpanded and secrets hidden.", [
    "get files",
    "get issues --profile work --json",
  ])
    .argument("<name>", "the server")
    .addOption(profileOption())
    .action(async (name: string, options: ProfileOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await workspace.load({ secrets: true });
        reportLostRule(config, terminal);
        const entry = workspace.require(config, name);
        assertAccounts(entry, options.profile);
        const profile = options.profile ?? profileOf(config, entry);
        const account = await accountOf(workspace, entry, profile);
        const view = {
          ...describeServer(entry),
          ...(profile !== undefined && { profile }),
          ...(account && { account }),
        };
        if (options.json) return terminal.out(json(view));
        const paint = painter(terminal);
        terminal.out(`${paint("bold", safe(name))}  ${safe(view.state)}\n`);
        const lines: [string, string][] = [["from", describeOrigin(entry.origin)]];
        if (view.reason !== undefined) lines.push(["why", `${view.reason}. ${view.hint ?? ""}`]);
        if (account) lines.push(["as", accountLine(account, Date.now())]);
        else if (profile !== undefined)
          lines.push(["as", `${profile}: ${joinArgv(["plugboard", "login", name, "--profile", profile])}`]);
        if (view.host !== undefined) lines.push(["host", view.host]);
        terminal.out(aligned([...lines, ...fieldLines(view.config)], terminal));
        for (const diagnostic of entry.diagnostics) terminal.out(diagnosticLine(diagnostic, terminal, "out"));
      }),
    );
}

/** The stored login. Ignores an unreadable vault, so the rest is still shown. */
async function accountOf(
  { credentials }: Workspace,
  { name: server, config }: ServerEntry,
  profile: string | undefined,
): Promise<Account | undefined> {
  const { url = "", oauth = {} } = config ?? {};
  try {
    return await storedAccount({ url, server, oauth: { ...oauth, profile }, credentials });
  } catch {
    return undefined;
  }
}

function fieldLines(config: unknown): [string, string][] {
  if (typeof config !== "object" || config === null) return [];
  return Object.entries(config).map(([key, value]) => [
    key,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
}

function aligned(lines: readonly [string, string][], terminal: Terminal): string {
  const width = Math.max(...lines.map(([label]) => safe(label).length));
  return lines
    .map(([label, text]) => `  ${safe(label).padEnd(width)}  ${hanging(safe(text), width + 4, terminal)}\n`)
    .join("");
}
