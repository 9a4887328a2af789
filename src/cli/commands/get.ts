import type { Command } from "commander";
import { describeOrigin, storedAccount } from "../../index.ts";
import type { Account, ServerEntry, Workspace } from "../../index.ts";
import { joinArgv } from "../../lib/argv.ts";
import { accountLine } from "../views/account.ts";
import { json, painter, safe } from "../terminal/print.ts";
import { diagnosticLine } from "../terminal/report.ts";
import { describeServer } from "../views/server.ts";
import { assertAccounts, profileOf, profileOption } from "../arguments/profile.ts";
import type { ProfileOptions } from "../arguments/profile.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";

export function command(terminal: Terminal): Command {
  return verb("get", "Show one server's configuration, with references unexpanded and secrets hidden.", [
    "get files",
    "get issues --profile work --json",
  ])
    .argument("<name>", "the server")
    .addOption(profileOption())
    .action(async (name: string, options: ProfileOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await workspace.load();
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
        terminal.out(`  from  ${safe(describeOrigin(entry.origin))}\n`);
        if (view.reason !== undefined)
          terminal.out(`  why   ${safe(view.reason)}. ${safe(view.hint ?? "")}\n`);
        if (account) terminal.out(`  as    ${safe(accountLine(account, Date.now()))}\n`);
        else if (profile !== undefined)
          terminal.out(
            `  as    ${safe(profile)}: ${safe(joinArgv(["plugboard", "login", name, "--profile", profile]))}\n`,
          );
        for (const line of fieldLines(view.config)) terminal.out(`  ${line}\n`);
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

function fieldLines(config: unknown): string[] {
  if (typeof config !== "object" || config === null) return [];
  const width = Math.max(...Object.keys(config).map((key) => safe(key).length));
  return Object.entries(config).map(([key, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `${safe(key).padEnd(width)}  ${safe(text)}`;
  });
}
