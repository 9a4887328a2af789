import { basename } from "node:path";
import type { Command } from "commander";
import { shownArgs, shownUrl } from "../config.ts";
import { PlugboardError } from "../index.ts";
import { commandWords, shellWord } from "../lib/argv.ts";
import { splitPair } from "./arguments/pair.ts";
import { collect } from "./verb.ts";

/** A server that is named on the command line and lives only as long as the command. */
export interface OneOffOptions {
  command?: string;
  url?: string;
  env?: string[];
  header?: string[];
}

export function oneOffOptions(command: Command): Command {
  return command
    .option("--command <line>", "use this program as the only server, without configuring it")
    .option("--url <url>", "use the server at this URL as the only one, without configuring it")
    .option("-e, --env <KEY=value>", "with --command: set an environment variable (repeatable)", collect)
    .option("-H, --header <Name: value>", "with --url: send a header (repeatable)", collect);
}

/** The server that the options describe; undefined if they describe none. */
export function oneOffServer(
  options: OneOffOptions,
): { name: string; written: Record<string, unknown> } | undefined {
  const { command, url, env = [], header = [] } = options;
  const wrong = mistake(options);
  if (wrong !== undefined)
    throw new PlugboardError("usage-invalid", wrong, {
      hint:
        url !== undefined && command === undefined
          ? `Try: --url ${shellWord(`http://${url.replace(/^[a-z]+:\/\//i, "")}`)}`
          : "Example: plugboard tools --command 'npx -y @modelcontextprotocol/server-everything'",
    });
  if (url !== undefined) {
    const headers = Object.fromEntries(header.map((pair) => splitPair(pair, ":", "-H 'Name: value'")));
    const written = { type: "http", url, ...(header.length > 0 && { headers }) };
    return { name: legalName(URL.parse(url)?.hostname ?? ""), written };
  }
  if (command === undefined) return undefined;
  const [program = "", ...args] = commandWords(command.trim());
  const pairs = Object.fromEntries(env.map((pair) => splitPair(pair, "=", "-e KEY=value")));
  const written = { command: program, args, ...(env.length > 0 && { env: pairs }) };
  return { name: legalName(spokenName([program, ...args])), written };
}

/**
 * The options that a suggested command line must repeat to mean the same servers; undefined if they may hold secrets,
 * which are not repeated.
 */
export function repeatedOptions(options: OneOffOptions & { config?: string }): string[] | undefined {
  const { command, url, env, header, config } = options;
  if (env || header) return undefined;
  if (command !== undefined) {
    const words = commandWords(command.trim());
    return isSame(words, shownArgs(words)) ? ["--command", command] : undefined;
  }
  if (url !== undefined) return shownUrl(url) === url ? ["--url", url] : undefined;
  return config === undefined ? [] : ["--config", config];
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.every((word, index) => word === other[index]);
}

function mistake({ command, url, env, header }: OneOffOptions): string | undefined {
  if (command !== undefined && url !== undefined) return "Use either --command or --url.";
  if (command?.trim() === "") return "--command needs a program.";
  if (url !== undefined && !/^https?:\/\//i.test(url)) return "--url needs an http:// or https:// URL.";
  if (env && command === undefined) return "--env works only with --command.";
  if (header && url === undefined) return "--header works only with --url.";
  return undefined;
}

const runners = /^(npx|npm|pnpm|yarn|bunx?|uvx?|pipx|node|deno|python[\d.]*|docker|podman|env|sh|bash)$/;
const subcommands = /^(exec|dlx|run|x|tool)$/;

/** What people would call it: the package, the script, or else the program. */
function spokenName(words: readonly string[]): string {
  const meant = words.find((word, at) => {
    const base = basename(word);
    return !word.startsWith("-") && !runners.test(base) && !(at > 0 && subcommands.test(word));
  });
  const parts = (meant ?? words[0] ?? "").split(/[\\/]/).filter((part) => /\w/.test(part));
  const names = parts.map((part) => part.replace(/(?<=.)@[^@]*$|\.\w{1,4}$/, ""));
  // `…/server-everything/dist/index.js` is known by its folder.
  return names.findLast((name) => !/^(index|main|cli|server|app|dist|build|lib|src|bin)$/.test(name)) ?? "";
}

function legalName(text: string): string {
  const legal = text.replaceAll(/[^A-Za-z0-9]+/g, "-").replaceAll(/^-+|-+$/g, "");
  return legal.slice(0, 40).replace(/-$/, "") || "server";
}
