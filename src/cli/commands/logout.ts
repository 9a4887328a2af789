import type { Command } from "commander";
import { findLogins } from "../../config.ts";
import { PlugboardError, isPlugboardError } from "../../index.ts";
import type { StoredLogin, Workspace } from "../../config.ts";
import type { LoadedConfig } from "../../index.ts";
import { joinArgv } from "../../lib/argv.ts";
import { onlyServers, withHub } from "../with-hub.ts";
import { count, json, safe } from "../terminal/print.ts";
import { profileOption } from "../arguments/profile.ts";
import type { ProfileOptions } from "../arguments/profile.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { loginWords, shownLogin } from "../views/kept.ts";
import { verb, withWorkspace } from "../verb.ts";

interface LogoutOptions extends ProfileOptions {
  all?: boolean;
  yes?: boolean;
}

export function command(terminal: Terminal): Command {
  return verb(
    "logout",
    "Delete a stored login, and revoke it if the server supports that. Works for removed servers too.",
    ["logout issues", "logout issues --profile work", "logout https://issues.example/mcp", "logout --all"],
  )
    .argument("[server]", "the server; or the URL or the authorization server of a login")
    .addOption(profileOption())
    .option("--all", "end all logins, of all servers and accounts")
    .option("-y, --yes", "do not ask")
    .action(async (name: string | undefined, options: LogoutOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        if ((name === undefined) !== (options.all === true) || (options.all && options.profile !== undefined))
          throw new PlugboardError("usage-invalid", "Name a server, or use --all alone.", {
            hint: "Run `plugboard status` to see who is logged in where, and `plugboard doctor` for logins of removed servers.",
          });
        if (name === undefined) return logOutOfAll(workspace, options, terminal);
        const revoked = await logOutOf(name, workspace, options, terminal);
        if (options.json) return terminal.out(json({ server: name, loggedOut: true, revoked }));
        terminal.out(`Logged out of ${safe(name)}.${revokedWords(revoked)}\n`);
      }),
    );
}

/** Returns whether everything was revoked. */
async function logOutOf(
  name: string,
  workspace: Workspace,
  { profile }: LogoutOptions,
  terminal: Terminal,
): Promise<boolean> {
  const config = await workspace.load();
  const isWanted = (login: StoredLogin) => profile === undefined || login.profile === profile;
  const isConfigured = config.servers.has(name);
  const outcomes = isConfigured ? await logOutOfConfigured(name, config, workspace, profile, terminal) : [];
  const { logins } = await workspace.stored.list();
  // Those of a configured server are gone by now. The rest are from before it was changed or removed.
  const rest = isConfigured
    ? logins.filter(({ server, usedBy }) => server === name && usedBy.length === 0)
    : findLogins(logins, name);
  for (const login of rest.filter(isWanted)) outcomes.push((await workspace.stored.endLogin(login)).revoked);
  if (outcomes.length > 0) return outcomes.every(Boolean);
  if (!isConfigured) workspace.require(config, name);
  const account = profile === undefined ? [] : ["--profile", profile];
  const as = profile === undefined ? "" : ` with the account "${profile}"`;
  throw new PlugboardError("value-missing", `You are not logged in to "${name}"${as}.`, {
    server: name,
    hint: `To log in, run \`${joinArgv(["plugboard", "login", name, ...account])}\`.`,
  });
}

async function logOutOfConfigured(
  name: string,
  config: LoadedConfig,
  workspace: Workspace,
  profile: string | undefined,
  terminal: Terminal,
): Promise<boolean[]> {
  // Ending a login takes access away, which no missing rule makes dangerous.
  const use = { config: onlyServers(config, [name]), isLooking: true };
  return withHub(terminal, use, workspace, async (hub) => {
    try {
      const { wasLoggedIn, revoked } = await hub.logout(name, { profile });
      return wasLoggedIn ? [revoked] : [];
    } catch (error) {
      // It needs no login now, but there may be one from before.
      const { logins } = await workspace.stored.list();
      if (isPlugboardError(error, "usage-invalid") && logins.some(({ server }) => server === name)) return [];
      throw error;
    }
  });
}

async function logOutOfAll(workspace: Workspace, options: LogoutOptions, terminal: Terminal): Promise<void> {
  const { logins } = await workspace.stored.list();
  if (logins.length === 0) {
    const nothing = options.json ? json({ loggedOut: [] }) : "You are not logged in anywhere.\n";
    return terminal.out(nothing);
  }
  const { ask } = terminal;
  if (ask && !options.yes && !options.json) {
    await ask.say(logins.map((login) => safe(loginWords(login))).join("\n"));
    const message = `End ${count(logins.length, "login")}?`;
    if (!(await ask.confirm({ message }, new AbortController().signal))) {
      return terminal.out("Nothing was changed.\n");
    }
  }
  const ended: { login: StoredLogin; revoked: boolean }[] = [];
  for (const login of logins)
    ended.push({ login, revoked: (await workspace.stored.endLogin(login)).revoked });
  if (options.json) {
    const shown = ended.map(({ login, revoked }) => ({ ...shownLogin(login), revoked }));
    return terminal.out(json({ loggedOut: shown }));
  }
  for (const { login, revoked } of ended)
    terminal.out(`Logged out of ${safe(loginWords(login))}.${revokedWords(revoked)}\n`);
}

function revokedWords(revoked: boolean): string {
  return revoked ? "" : " The server did not revoke the login, so its tokens may still work.";
}
