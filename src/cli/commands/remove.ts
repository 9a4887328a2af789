import type { Command } from "commander";
import { describeOrigin } from "../../config.ts";
import { PlugboardError, isPlugboardError } from "../../index.ts";
import type { KeptCredentials, Scope, Workspace } from "../../config.ts";
import { joinArgv } from "../../lib/argv.ts";
import { json, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { loginWords, logoutCommand, shownLogin, unusedCredentials } from "../views/kept.ts";
import { scopeOption, verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

interface RemoveOptions extends CommonOptions {
  scope?: Scope;
  logout?: boolean;
  keepLogin?: boolean;
}

export function command(terminal: Terminal): Command {
  return verb(
    "remove",
    "Remove a server. The rest of the file does not change. In a terminal, asks whether to log out as well.",
    ["remove files", "remove issues --scope project", "remove issues --logout"],
  )
    .argument("<name>", "the server")
    .addOption(scopeOption("the scope to remove it from, if it is in several"))
    .option("--logout", "also end the logins that only this server used")
    .option("--keep-login", "keep them without asking")
    .action(async (name: string, options: RemoveOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        if (options.logout && options.keepLogin)
          throw new PlugboardError("usage-invalid", "Use either --logout or --keep-login.");
        const before = await unused(workspace);
        const origin = await workspace.remove(name, options.scope);
        const left = leftBy(before, await unused(workspace));
        if (!options.json) {
          const { scope, file } = origin;
          const place = describeOrigin({ scope, ...(file ? { file } : {}) });
          terminal.out(`Removed ${safe(name)} from ${safe(place)}.\n`);
        }
        const ended = (await wantsLogout(left, options, terminal)) ? await endAll(left, workspace) : [];
        if (options.json) {
          const logins = ended.length > 0 ? [] : left.logins.map(shownLogin);
          const secrets = left.secrets.map(({ name: secret }) => secret);
          return terminal.out(
            json({ removed: name, ...origin, loggedOut: ended, unused: { logins, secrets } }),
          );
        }
        report(left, ended, options, terminal);
      }),
    );
}

type Unused = ReturnType<typeof unusedCredentials>;

/** Nothing if the vault cannot be read: a server can be removed without it. */
async function unused(workspace: Workspace): Promise<Unused> {
  try {
    return unusedCredentials(await workspace.stored.list());
  } catch (error) {
    if (!isPlugboardError(error, "store-unavailable")) throw error;
    return { logins: [], secrets: [] };
  }
}

/** What nobody uses any more since the server is gone. */
function leftBy(before: Unused, after: Unused): Unused {
  const logins = new Set(before.logins.map(({ key }) => JSON.stringify(key)));
  const secrets = new Set(before.secrets.map(({ name }) => name));
  return {
    logins: after.logins.filter(({ key }) => !logins.has(JSON.stringify(key))),
    secrets: after.secrets.filter(({ name }) => !secrets.has(name)),
  };
}

async function wantsLogout(
  { logins }: Unused,
  { logout, keepLogin, json: isJson }: RemoveOptions,
  { ask }: Terminal,
): Promise<boolean> {
  if (logins.length === 0 || keepLogin) return false;
  if (logout || isJson || !ask) return logout === true;
  await ask.say(
    `You are still logged in:\n${logins.map((login) => `  ${safe(loginWords(login))}`).join("\n")}`,
  );
  const answer = await ask.confirm(
    { message: "Log out as well?", initial: true },
    new AbortController().signal,
  );
  return answer === true;
}

async function endAll({ logins }: Pick<KeptCredentials, "logins">, workspace: Workspace) {
  const ended: Record<string, unknown>[] = [];
  for (const login of logins) {
    const { revoked } = await workspace.stored.endLogin(login);
    ended.push({ ...shownLogin(login), revoked });
  }
  return ended;
}

function report(
  { logins, secrets }: Unused,
  ended: readonly Record<string, unknown>[],
  { keepLogin }: RemoveOptions,
  terminal: Terminal,
): void {
  if (ended.length > 0) {
    const isRevoked = ended.every(({ revoked }) => revoked === true);
    const rest = isRevoked ? "" : " The server did not revoke every login, so tokens may still work.";
    terminal.out(`Logged out of ${logins.map((login) => safe(loginWords(login))).join(", ")}.${rest}\n`);
  } else if (!keepLogin) {
    for (const login of logins)
      terminal.err(
        `note: ${safe(`the login to ${loginWords(login)} is still stored. To end it: ${logoutCommand(login)}`)}\n`,
      );
  }
  for (const { name } of secrets) {
    const command = joinArgv(["plugboard", "secret", "remove", name]);
    terminal.err(
      `note: ${safe(`no known server uses the secret ${name} any more. To delete it: ${command}`)}\n`,
    );
  }
}
