import type { Command } from "commander";
import { openUrl } from "../../index.ts";
import type { LoginOptions } from "../../index.ts";
import { accountLine } from "../account-view.ts";
import { narrow } from "../narrow.ts";
import { json, painter, safe } from "../print.ts";
import type { Terminal } from "../terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";
import { withHub } from "../with-hub.ts";

interface Options extends CommonOptions {
  browser: boolean;
  device?: boolean;
  profile?: string;
  scopes?: string;
}

export function command(terminal: Terminal): Command {
  return verb(
    "login",
    "Log in to a remote server in the browser. The login is kept encrypted and renewed by itself.",
    [
      "login issues",
      "login issues --no-browser",
      "login issues --profile work --scopes 'issues:read issues:write'",
    ],
  )
    .argument("<server>", "the server")
    .option("--no-browser", "open nothing; paste the address that your browser ends at")
    .option("--device", "type a code in on another device, where the server offers that")
    .option("--profile <name>", "another account than the configured one")
    .option(
      "--scopes <scopes>",
      "what to ask for, with spaces or commas between; +scope adds to what the login has",
    )
    .action(async (name: string, options: Options) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await workspace.load();
        workspace.require(config, name);
        const use = { config: narrow(config, [name]), tolerant: true };
        await withHub(terminal, use, workspace, async (hub, signal) => {
          const { profile } = options;
          const scopes = options.scopes?.split(/[\s,]+/).filter(Boolean);
          const way = waysToLogIn(name, options, terminal);
          const account = await hub.login(name, { ...way, profile, scopes, signal });
          if (options.json) return terminal.out(json({ server: name, account }));
          const paint = painter(terminal);
          terminal.out(
            `${paint("green", "Logged in")} to ${safe(name)}: ${safe(accountLine(account, Date.now()))}.\n`,
          );
        });
      }),
    );
}

/** What a person sees goes to standard error, so that `--json` prints nothing but JSON. */
function waysToLogIn(server: string, { browser, device }: Options, terminal: Terminal): LoginOptions {
  if (device) {
    return {
      device: ({ url, code }) =>
        terminal.err(`Open ${safe(url)} on any device and type in the code ${safe(code)}\n`),
    };
  }
  if (!browser) {
    return {
      openUrl: (url) => terminal.err(`Open this address in a browser:\n\n  ${safe(url.href)}\n\n`),
      askRedirect: (_url, signal) => askRedirect(terminal, signal),
    };
  }
  return {
    openUrl: async (url) => {
      const words = `Opening the login of ${safe(server)} in the browser. If that does not work, open it yourself:`;
      terminal.err(`${words}\n\n  ${safe(url.href)}\n\n`);
      await openBrowser(url, terminal);
    },
  };
}

async function openBrowser(url: URL, terminal: Terminal): Promise<void> {
  try {
    await openUrl(url, terminal.env);
  } catch {
    terminal.err("No browser could be opened here; --no-browser lets you use one elsewhere.\n");
  }
}

/** The address that the browser ends at, even when it shows an error there. */
async function askRedirect(terminal: Terminal, signal: AbortSignal): Promise<string | undefined> {
  if (!terminal.ask) return terminal.readInput();
  const message = "Paste the address that the browser ends at (it may show an error there)";
  return terminal.ask.text({ message }, signal);
}
