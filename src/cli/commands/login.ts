import type { Command } from "commander";
import { PlugboardError } from "../../index.ts";
import type { Vault } from "../../config.ts";
import { accountLine } from "../views/account.ts";
import { waysToLogIn } from "../terminal/login-ways.ts";
import { loadForUse, onlyServers, withHub } from "../with-hub.ts";
import { json, painter, safe } from "../terminal/print.ts";
import { profileOption } from "../arguments/profile.ts";
import type { ProfileOptions } from "../arguments/profile.ts";
import { cancelled } from "../terminal/signals.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";

interface Options extends ProfileOptions {
  browser: boolean;
  device?: boolean;
  scopes?: string;
}

export function command(terminal: Terminal): Command {
  return verb(
    "login",
    "Log in to a remote server in the browser. The login is stored encrypted and renewed automatically.",
    [
      "login issues",
      "login issues --no-browser",
      "login issues --profile work --scopes 'issues:read issues:write'",
    ],
  )
    .argument("<server>", "the server")
    .option("--no-browser", "do not open a browser; paste the final address from one elsewhere")
    .option("--device", "enter a code on another device, if the server supports it")
    .addOption(profileOption())
    .option(
      "--scopes <scopes>",
      "scopes to request, separated by spaces or commas; +scope adds to the current ones",
    )
    .action(async (name: string, options: Options) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await loadForUse(workspace, {});
        const { config: entry } = workspace.require(config, name);
        if (entry?.url !== undefined) await assertWritable(await workspace.vault(), name);
        const use = { config: onlyServers(config, [name]), tolerant: true, isFresh: true };
        await withHub(terminal, use, workspace, async (hub, signal) => {
          const { profile } = options;
          const scopes = options.scopes?.split(/[\s,]+/).filter(Boolean);
          const way = waysToLogIn(name, options, terminal);
          let isGivenUp = false;
          const askRedirect = async (url: URL, over: AbortSignal) => {
            const pasted = await way.askRedirect?.(url, over);
            isGivenUp = pasted === undefined && terminal.ask !== undefined && !over.aborted;
            return pasted;
          };
          const ways = { ...way, ...(way.askRedirect && { askRedirect }) };
          const account = await hub
            .login(name, { ...ways, profile, scopes, signal })
            .catch((error: unknown) => {
              throw isGivenUp ? cancelled() : error;
            });
          if (options.json) return terminal.out(json({ server: name, account }));
          const paint = painter(terminal);
          terminal.out(
            `${paint("green", "Logged in")} to ${safe(name)}: ${safe(accountLine(account, Date.now()))}.\n`,
          );
        });
      }),
    );
}

/** Larger than any login with its client registration. */
const probeBytes = 32_768;

/** Fails before opening a browser if the login could not be stored: it would be lost when the command exits. */
async function assertWritable(vault: Vault, server: string): Promise<void> {
  const name = "probe/login";
  const place = await vault.set(name, " ".repeat(probeBytes));
  await vault.delete(name);
  if (place !== "memory") return;
  throw new PlugboardError("store-unavailable", `Cannot save a login to "${server}".`, {
    server,
    data: { reason: "unwritable", path: vault.path },
    hint: "Make the vault's folder writable and try again. Nothing was sent.",
  });
}
