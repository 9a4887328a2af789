import { resolve } from "node:path";
import { shownUrl, startsPlugboard } from "../../config.ts";
import type { Format, Workspace } from "../../config.ts";
import { PlugboardError } from "../../index.ts";
import type { LoadedConfig, ServerConfig } from "../../index.ts";
import { isOnThisMachine } from "../../lib/safe-url.ts";
import { ownCommand } from "./own-command.ts";
import { reachableHost, serveSettings, usualPort } from "../serve/settings.ts";

/** What our gateway is called in clients' files. */
export const gatewayName = "plugboard";

export const tokenVariable = "PLUGBOARD_TOKEN";

export interface GatewayOptions {
  config?: string;
  bundle?: string;
  /** The URL of a running gateway; true for where `plugboard serve` is. */
  http?: string | true;
  scope?: "user" | "project";
}

/** The entry of the gateway in one client's file. */
export function gatewayEntry(
  format: Format,
  options: GatewayOptions,
  workspace: Workspace,
  config: LoadedConfig,
): ServerConfig {
  const settings = serveSettings({ auth: true, bundle: options.bundle }, config);
  if (options.http === undefined) return stdioEntry(options, workspace);
  const { bundle } = options;
  if (bundle !== undefined && options.http !== true)
    throw new PlugboardError("usage-invalid", "--bundle cannot be combined with the URL of --http.", {
      hint: `Put the bundle into the URL, for example http://127.0.0.1:${usualPort}/mcp/${bundle}.`,
    });
  const path = bundle === undefined ? "/mcp" : `/mcp/${encodeURIComponent(bundle)}`;
  const usual = `http://${reachableHost(settings)}:${settings.port ?? usualPort}${path}`;
  const url = options.http === true ? usual : options.http;
  const parsed = URL.parse(url);
  if (!/^https?:$/.test(parsed?.protocol ?? ""))
    throw new PlugboardError(
      "usage-invalid",
      `"${shownUrl(url)}" is not a URL that starts with http:// or https://.`,
    );
  // It would stand in the client's file in plain text.
  if (parsed?.username || parsed?.password)
    throw new PlugboardError("usage-invalid", "The URL of --http must not contain a user or a password.", {
      hint: `The client sends the gateway's token, which it takes from ${tokenVariable}.`,
    });
  if (settings.auth === "none") return { type: "http", url };
  return withToken(format, url);
}

function stdioEntry({ config, bundle, scope }: GatewayOptions, { cwd, env }: Workspace): ServerConfig {
  const named = config ?? env["PLUGBOARD_CONFIG"];
  const [command = "", ...args] = [
    ...ownCommand({ isShared: scope === "project" }),
    "serve",
    "--stdio",
    ...(named === undefined ? [] : ["--config", resolve(cwd, named)]),
    ...(bundle === undefined ? [] : ["--bundle", bundle]),
  ];
  return { command, args };
}

/** The token is in no file: the client looks it up, or asks for it and keeps it. */
function withToken(format: Format, url: string): ServerConfig {
  const candidates: ServerConfig[] = [
    { type: "http", url, bearerTokenEnv: tokenVariable },
    { type: "http", url, headers: { Authorization: `Bearer \${secret:${tokenVariable}}` } },
  ];
  const usable = candidates.find((config) => looksUpToken(format, config));
  if (usable) return usable;
  throw new PlugboardError(
    "usage-invalid",
    `${format.title} cannot take the gateway's token from a variable, so it would have to be in its file in plain text.`,
    { hint: "Leave out --http: over stdio, no token is needed." },
  );
}

/** Whether the client, reading what is written for it, gets the token from somewhere else. */
function looksUpToken(format: Format, config: ServerConfig): boolean {
  const { value } = format.write?.([{ name: gatewayName, config }]) ?? {};
  const context = { projectRoot: "/", home: "/", scope: "user", file: "" } as const;
  const [server] = format.read(value, context).servers;
  const { type, bearerTokenEnv, headers = {}, headersFromEnv = {} } = server?.config ?? {};
  const values = [...Object.values(headers), ...Object.values(headersFromEnv)];
  const references = [`\${${tokenVariable}}`, `\${secret:${tokenVariable}}`];
  const isReferred = values.some((text) =>
    references.some((one) => text.includes(one) && !text.includes(`$${one}`)),
  );
  return type === "http" && (bearerTokenEnv === tokenVariable || isReferred);
}

/** True for an entry that leads to a gateway of Plugboard, of this or another installation. */
export function isGatewayEntry(
  config: ServerConfig,
  { folders }: Pick<Workspace, "folders">,
  program = process.argv[1],
): boolean {
  const { command, url, bearerTokenEnv, headers = {} } = config;
  if (command !== undefined) return startsPlugboard(config, { folder: folders.home, program });
  const address = URL.parse(url ?? "");
  if (!address || !/^\/mcp(\/|$)/.test(address.pathname)) return false;
  const hasToken =
    bearerTokenEnv === tokenVariable || Object.values(headers).some((text) => text.includes(tokenVariable));
  return hasToken || (isOnThisMachine(address) && address.port === String(usualPort));
}
