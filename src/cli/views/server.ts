import { addressOf, hostLine, shownArgs, shownEntry, shownUrl, shownWord } from "../../config.ts";
import { serverState } from "../../host.ts";
import type { ServerEntry } from "../../config.ts";
import { isRecord } from "../../lib/record.ts";
import { joinArgv, pastedArgv } from "../../lib/argv.ts";

/** One server as `list`, `get` and `--json` show it, without values that may be secret. */
export function describeServer(entry: ServerEntry) {
  const { name, origin, status, config } = entry;
  return {
    name,
    state: serverState(status),
    ...(status.kind === "disabled" ? { reason: status.message, hint: status.hint } : {}),
    type: transportOf(entry),
    ...hostOf(entry),
    target: targetOf(entry),
    scope: origin.scope,
    file: origin.file,
    line: origin.line,
    enabled: config?.enabled !== false,
    config: shownEntry(entry),
    diagnostics: entry.diagnostics,
  };
}

export function transportOf({ config }: Pick<ServerEntry, "config">): string {
  if (!config) return "?";
  return config.type ?? (config.url === undefined ? "stdio" : "http");
}

/** The host that a URL really leads to, because the URL itself can look like that of another one. */
function hostOf({ config, written }: Pick<ServerEntry, "config" | "written">): { host?: string } {
  const { url } = config ?? (isRecord(written) ? written : {});
  return typeof url === "string" ? { host: hostLine(addressOf(url)) } : {};
}

/** The command line or URL. Hides credentials unless `isExact`. */
export function targetOf(
  { config, written }: Pick<ServerEntry, "written"> & Partial<Pick<ServerEntry, "config">>,
  isExact = false,
): string {
  const { command, args, url } = config ?? (isRecord(written) ? written : {});
  if (typeof url === "string") return shownUrl(url);
  if (typeof command !== "string") return "";
  const words = Array.isArray(args) ? args.filter((word) => typeof word === "string") : [];
  return joinArgv(isExact ? [command, ...words] : [shownWord(command), ...shownArgs(words)]);
}

/** The command line for a shell, with credentials hidden. */
export function commandToPaste({ config }: Pick<ServerEntry, "config">): string {
  const { command = "", args = [] } = config ?? {};
  return pastedArgv([shownWord(command), ...shownArgs(args)]);
}

/** Shown when no server is configured. */
export const noServersText = `No servers are configured. To add some:

  plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .
  plugboard import        imports servers from other clients on this machine
`;
