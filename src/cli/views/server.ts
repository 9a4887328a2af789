import { shownArgs, shownEntry, shownUrl } from "../../index.ts";
import type { ServerEntry } from "../../index.ts";
import { isRecord } from "../../lib/record.ts";
import { joinArgv } from "../../lib/argv.ts";

/** One server as `list`, `get` and `--json` show it: no value that may be secret. */
export function describeServer(entry: ServerEntry) {
  const { name, origin, status, config } = entry;
  return {
    name,
    state: stateWord(entry),
    ...(status.kind === "disabled" ? { reason: status.message, hint: status.hint } : {}),
    type: transportOf(entry),
    target: targetOf(entry),
    scope: origin.scope,
    file: origin.file,
    line: origin.line,
    enabled: config?.enabled !== false,
    config: shownEntry(entry),
    diagnostics: entry.diagnostics,
  };
}

/** `ready`, `off`, or why the server is not used. */
export function stateWord({ status }: ServerEntry): string {
  if (status.kind === "ready") return "ready";
  return status.reason === "config" ? "off" : status.reason;
}

export function transportOf({ config }: ServerEntry): string {
  if (!config) return "?";
  return config.type ?? (config.url === undefined ? "stdio" : "http");
}

/** The command line or the address; without credentials unless it must be exact. */
export function targetOf(
  { config, written }: Pick<ServerEntry, "config" | "written">,
  isExact = false,
): string {
  const { command, args, url } = config ?? (isRecord(written) ? written : {});
  if (typeof url === "string") return shownUrl(url);
  if (typeof command !== "string") return "";
  const words = Array.isArray(args) ? args.filter((word) => typeof word === "string") : [];
  return joinArgv([command, ...(isExact ? words : shownArgs(words))]);
}

/** What somebody sees who has configured nothing yet. */
export const noServersText = `No servers are configured.

  plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .
  plugboard import        takes over what other clients on this machine have
`;
