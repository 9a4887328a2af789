import { describeOrigin, shownUrl } from "../../config.ts";
import { errorTable } from "../../host.ts";
import type { ServerEntry } from "../../config.ts";
import { shellWord } from "../../lib/argv.ts";
import { lastLines } from "../../lib/last-words.ts";
import { wrappedLauncher } from "../../lib/package-launcher.ts";
import type { Finding } from "./finding.ts";
import { count } from "../terminal/print.ts";
import { commandToPaste } from "./server.ts";
import { isBroken } from "./status/board.ts";
import type { StatusRow } from "./status/board.ts";
import { seconds, serverName } from "./status/words.ts";

const slowStartMs = 5_000;
const stderrLines = 5;

/** Why a server cannot be used and what to do. Returns nothing for a server that is fine or disabled on purpose. */
export function problemOf(row: StatusRow, entry: ServerEntry | undefined): Finding | undefined {
  const { name: about, message, state } = row;
  if (message === undefined || row.disabledReason === "off") return undefined;
  const advice = adviceFor(row, entry);
  if (state === "disabled") return { level: isBroken(row) ? "problem" : "note", about, message, advice };
  const said = row.error?.data?.["stderr"];
  const stderr = typeof said === "string" ? lastLines(said, stderrLines) : [];
  const code = row.error && { code: row.error.code };
  return { level: "problem", about, message, advice, ...code, ...(stderr.length > 1 && { stderr }) };
}

/** What `doctor` reports after connecting: the failure, or the connection and anything unusual about it. */
export function connectionFindings(row: StatusRow, entry: ServerEntry | undefined): Finding[] {
  const { name: about, origin } = row;
  const problem = problemOf(row, entry);
  if (row.state === "disabled") return [];
  if (problem) {
    const advice = `It is configured in ${describeOrigin(origin)}. ${problem.advice ?? ""}`.trimEnd();
    return [{ ...problem, advice }];
  }
  const facts = [
    serverName(row),
    `protocol ${row.protocolVersion ?? "?"} (${row.era ?? "?"} era)`,
    row.toolCount === undefined ? "" : count(row.toolCount, "tool"),
    row.startMs === undefined ? "" : `started in ${seconds(row.startMs)}`,
  ];
  const message = `connected over ${row.via}: ${facts.filter(Boolean).join(", ")}`;
  return [{ level: "ok", about, message }, ...anomalies(row, entry)];
}

function anomalies(row: StatusRow, entry: ServerEntry | undefined): Finding[] {
  const { name: about, skippedLines, startMs = 0, era } = row;
  const { eraBasis } = row;
  const found: Finding[] = [];
  if (era === "legacy" && eraBasis === "silence") {
    found.push({
      level: "note",
      about,
      message: "did not respond to the protocol probe, so connecting had to wait for the timeout",
      advice: 'Set `protocol` to "legacy" for this server to skip the probe.',
    });
  }
  if (skippedLines) {
    found.push({
      level: "note",
      about,
      message: `printed ${count(skippedLines.count, "line that is not a message", "lines that are not messages")} to standard output, first: ${skippedLines.first[0] ?? ""}`,
      advice:
        "Plugboard skips such lines, but other clients may fail. Make the server log to standard error.",
    });
  }
  if (startMs > slowStartMs) {
    const { command = "", args = [] } = entry?.config ?? {};
    const isFetched = wrappedLauncher([command, ...args])?.namesPackage;
    found.push({
      level: "note",
      about,
      message: `took ${seconds(startMs)} to start`,
      advice: isFetched
        ? "Install the package and set its program as `command`, so that nothing is downloaded at startup."
        : "If it gets slower, increase `startupTimeoutMs` for this server.",
    });
  }
  return found;
}

/** The error's hint, with the server's name, command or URL filled in. */
function adviceFor({ name, hint = "", error, via }: StatusRow, entry: ServerEntry | undefined): string {
  const filled = (pattern: string) => pattern.replaceAll("<server>", shellWord(name));
  const text = filled(hint);
  const isGeneral = error !== undefined && text === filled(errorTable[error.code].hint);
  if (!isGeneral || !entry) return text;
  switch (error.code) {
    case "auth-required":
      return entry.origin.scope === "override"
        ? "Send a token with -H 'Authorization: Bearer …', or add the server with `plugboard add` and log in to it."
        : text;
    case "start-timeout":
      return via === "stdio"
        ? `Increase \`startupTimeoutMs\`, or run it yourself to see what it is waiting for: ${commandToPaste(entry)}`
        : text;
    case "unexpected-response": {
      const url = shownUrl(entry.config?.url ?? "");
      const isMissing = error.data?.status === 404;
      return isMissing
        ? `Check the path in \`url\` (${url}): MCP servers are often at /mcp or /sse.`
        : `Check \`url\` (${url}): there is no MCP server at that address.`;
    }
    default:
      return text;
  }
}
