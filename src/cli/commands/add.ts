import type { Command } from "commander";
import { Option } from "commander";
import { secretOwner } from "../../config.ts";
import { PlugboardError } from "../../index.ts";
import type { WritableScope } from "../../config.ts";
import { shellWord } from "../../lib/argv.ts";
import { splitPair } from "../arguments/pair.ts";
import { addServer } from "../add-server.ts";
import { assertNoAddress } from "../arguments/address-mistake.ts";
import type { KeptSecret } from "../add-server.ts";
import { safe } from "../terminal/print.ts";
import { readSecretValue } from "../terminal/secret-value.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { collect, scopeOption, verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

interface AddOptions extends CommonOptions {
  scope: WritableScope;
  transport?: "stdio" | "http" | "sse";
  env: string[];
  inheritEnv: string[];
  header: string[];
  clientId?: string;
  clientSecret?: boolean;
  callbackPort?: number;
  force?: boolean;
}

export function command(terminal: Terminal): Command {
  return verb("add", "Add a server: a command after `--`, or a URL.", [
    "add files -- npx -y @modelcontextprotocol/server-filesystem ./notes",
    "add --transport http issues https://issues.example/mcp",
    "add -s project -H 'Authorization: Bearer ${secret:ISSUES}' issues https://issues.example/mcp",
    "add -e API_KEY='${API_KEY}' search -- uvx search-server",
    "add --inherit-env 'AWS_*' cloud -- npx -y cloud-server",
  ])
    .argument("<name>", "the server's name")
    .argument("<command-or-url>", "the program to run, or the URL to connect to")
    .argument("[args...]", "the program's arguments")
    .addOption(scopeOption("the scope to add it to").default("local"))
    .addOption(
      new Option("-t, --transport <transport>", "the transport; inferred from the command or URL").choices([
        "stdio",
        "http",
        "sse",
      ]),
    )
    .option("-e, --env <KEY=value>", "set an environment variable for the program (repeatable)", collect)
    .option(
      "--inherit-env <NAME,…>",
      "pass on variables of your own environment to the program; `*` is a wildcard (repeatable)",
      collect,
    )
    .option("-H, --header <Name: value>", "send a header with every request (repeatable)", collect)
    .option("--client-id <id>", "the ID of a registered OAuth client")
    .option(
      "--client-secret",
      "ask for the client's secret without showing it, or read it from MCP_CLIENT_SECRET",
    )
    .option("--callback-port <port>", "a fixed port for the login callback", parsePort)
    .option("--force", "replace an existing server with that name")
    .action(async (first: string, second: string, rest: string[], given: Partial<AddOptions>) => {
      const options: AddOptions = { scope: "local", env: [], inheritEnv: [], header: [], ...given };
      const words = takePairs([first, second, ...rest], options);
      const [name, target, ...args] = words;
      if (name === undefined || target === undefined) {
        throw new PlugboardError("usage-invalid", "Missing name, command or URL.", {
          hint: "Example: plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .",
        });
      }
      if (!isRemote(target, options)) {
        if (options.transport === undefined) assertNoAddress(name, target, args, terminal);
        return addServer(name, local(target, args, options), options, terminal);
      }
      const written = remote(target, args, options);
      const kept = options.clientSecret ? await readClientSecret(name, options, terminal) : undefined;
      if (kept) written.oauth = { ...written.oauth, clientSecret: `\${secret:${kept.name}}` };
      await addServer(name, written, options, terminal, kept);
    });
}

/** Also accepts `-e A=1 B=2 name` and `-H "X: 1" "Y: 2" name`; a name never contains `=` or `:`. */
function takePairs(words: string[], options: AddOptions): string[] {
  const rest = [...words];
  while (options.env.length > 0 && /^[A-Za-z_]\w*=/.test(rest[0] ?? "")) options.env.push(rest.shift() ?? "");
  while (options.header.length > 0 && /^[\w-]+:/.test(rest[0] ?? "")) options.header.push(rest.shift() ?? "");
  return rest;
}

function isRemote(target: string, { transport }: AddOptions): boolean {
  return transport === undefined ? /^https?:\/\//i.test(target) : transport !== "stdio";
}

function local(program: string, args: string[], options: AddOptions): Record<string, unknown> {
  for (const [given, flag] of [
    [options.header.length > 0, "--header"],
    [options.clientId, "--client-id"],
  ] as const) {
    if (given)
      throw new PlugboardError(
        "usage-invalid",
        `${flag} works only with a URL, and "${program}" is a command.`,
      );
  }
  const env = Object.fromEntries(options.env.map((pair) => splitPair(pair, "=", "-e KEY=value")));
  const inheritEnv = options.inheritEnv.flatMap(namesIn);
  return {
    command: program,
    ...(args.length > 0 ? { args } : {}),
    ...(options.env.length > 0 ? { env } : {}),
    ...(inheritEnv.length > 0 ? { inheritEnv } : {}),
  };
}

function remote(
  url: string,
  args: string[],
  options: AddOptions,
): Record<string, unknown> & { oauth?: object } {
  const [extra] = args;
  if (extra !== undefined) {
    throw new PlugboardError("usage-invalid", `A URL takes no arguments: remove "${extra}".`);
  }
  for (const [given, flag] of [
    [options.env, "--env"],
    [options.inheritEnv, "--inherit-env"],
  ] as const) {
    if (given.length > 0)
      throw new PlugboardError("usage-invalid", `${flag} works only with a command, not with a URL.`);
  }
  const headers = Object.fromEntries(options.header.map((pair) => splitPair(pair, ":", "-H 'Name: value'")));
  const oauth = {
    ...(options.clientId === undefined ? {} : { clientId: options.clientId }),
    ...(options.callbackPort === undefined ? {} : { callbackPort: options.callbackPort }),
  };
  return {
    type: options.transport ?? "http",
    url,
    ...(options.header.length > 0 ? { headers } : {}),
    ...(Object.keys(oauth).length > 0 ? { oauth } : {}),
  };
}

/**
 * Reads the client secret, under a name that no other server uses. Without a terminal, explains how to set it later and
 * returns only the name.
 */
async function readClientSecret(
  server: string,
  options: AddOptions,
  terminal: Terminal,
): Promise<KeptSecret> {
  const wanted = `${secretOwner(server)}_CLIENT_SECRET`;
  const name = await withWorkspace(terminal, options, (workspace) =>
    workspace.stored.freeName(wanted, server, options.scope),
  );
  const fromEnv = terminal.env["MCP_CLIENT_SECRET"] ? "MCP_CLIENT_SECRET" : undefined;
  if (fromEnv === undefined && !terminal.ask) {
    const words = `note: save the client secret with \`plugboard secret set ${shellWord(name)}\`, or set the variable ${name}.`;
    terminal.err(`${safe(words)}\n`);
    return { name };
  }
  return { name, value: await readSecretValue(name, { input: [], fromEnv }, terminal) };
}

/** `A,B` are two names. A value has no place here: it would end up in the file. */
function namesIn(list: string): string[] {
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  const isName = (name: string) => /^[^\s=]+$/.test(name);
  if (names.length > 0 && names.every(isName)) return names;
  throw new PlugboardError("usage-invalid", "--inherit-env takes names of variables, separated by commas.", {
    hint: "Example: --inherit-env AWS_PROFILE,AWS_REGION. To set a value, use -e NAME=value.",
  });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new PlugboardError("usage-invalid", "The port must be a number from 1 to 65535.");
}
