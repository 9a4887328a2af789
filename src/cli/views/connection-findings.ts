import { describeOrigin, errorTable, shownUrl } from "../../index.ts";
import type { ServerEntry } from "../../index.ts";
import { shellWord } from "../../lib/argv.ts";
import type { Finding } from "./finding.ts";
import { count } from "../terminal/print.ts";
import { targetOf } from "./server.ts";
import type { StatusRow } from "./status/board.ts";
import { seconds, serverName } from "./status/words.ts";

const slowStartMs = 5_000;
const stderrLines = 5;

/** Why a server is not usable and what to do about it; nothing for one that is, or that somebody switched off. */
export function problemOf(row: StatusRow, entry: ServerEntry | undefined): Finding | undefined {
  const { name: about, message, state } = row;
  if (message === undefined || row.disabledReason === "config") return undefined;
  const advice = adviceFor(row, entry);
  if (state === "disabled") return { level: "note", about, message, advice };
  const stderr = lastLines(row.error?.data?.["stderr"]);
  return { level: "problem", about, message, advice, ...(stderr.length > 1 && { stderr }) };
}

/** What `doctor` has to say about a server after connecting: the failure, or what went well and what is odd. */
export function connectionFindings(row: StatusRow, entry: ServerEntry | undefined): Finding[] {
  const { name: about, origin } = row;
  const problem = problemOf(row, entry);
  if (row.state === "disabled") return [];
  if (problem) {
    const advice = `It is written in ${describeOrigin(origin)}. ${problem.advice ?? ""}`.trimEnd();
    return [{ ...problem, advice }];
  }
  const facts = [
    serverName(row),
    `protocol ${row.protocolVersion ?? "?"} (${row.era ?? "?"} era)`,
    row.toolCount === undefined ? "" : count(row.toolCount, "tool"),
    row.startMs === undefined ? "" : `started in ${seconds(row.startMs)}`,
  ];
  const message = `connected over ${row.via}: ${facts.filter(Boolean).join(", ")}`;
  return [{ level: "ok", about, message }, ...oddities(row, entry)];
}

function oddities(row: StatusRow, entry: ServerEntry | undefined): Finding[] {
  const { name: about, skippedLines, startMs = 0, era } = row;
  const { eraBasis } = row;
  const found: Finding[] = [];
  if (era === "legacy" && eraBasis === "silence") {
    found.push({
      level: "note",
      about,
      message: "it never answered the question for its protocol, so the silence had to be waited out",
      advice: 'Set `protocol` to "legacy" for this server and it is not asked again.',
    });
  }
  if (skippedLines) {
    found.push({
      level: "note",
      about,
      message: `not only messages came on its standard output (${count(skippedLines.count, "line")}), first: ${skippedLines.first[0] ?? ""}`,
      advice: "Plugboard skips this, other clients may not: let the server log to standard error.",
    });
  }
  if (startMs > slowStartMs) {
    const isFetched = /(^|\/)(npx|bunx|uvx|pipx)$/.test(entry?.config?.command ?? "");
    found.push({
      level: "note",
      about,
      message: `it took ${seconds(startMs)} to start`,
      advice: isFetched
        ? "Install the package and name its program as `command`, so that nothing is fetched at the start."
        : "If it gets slower, raise `startupTimeoutMs` for this server.",
    });
  }
  return found;
}

/** The error's own hint, made ready to copy, with the command or address it is about where that helps. */
function adviceFor({ name, hint = "", error, via }: StatusRow, entry: ServerEntry | undefined): string {
  const isGeneral = error !== undefined && hint === errorTable[error.code].hint;
  const text = hint.replaceAll("<server>", shellWord(name));
  if (!isGeneral || !entry) return text;
  switch (error.code) {
    case "server-exited":
      return `Run it by hand and read what it says: ${targetOf(entry)}`;
    case "start-timeout":
      return via === "stdio"
        ? `Raise \`startupTimeoutMs\`, or run it by hand to see what it waits for: ${targetOf(entry)}`
        : text;
    case "unexpected-response": {
      const url = shownUrl(entry.config?.url ?? "");
      const isMissing = error.data?.status === 404;
      return isMissing
        ? `Check the path in \`url\` (${url}): MCP servers often answer at /mcp or /sse.`
        : `Check \`url\` (${url}): what is there is not an MCP server.`;
    }
    default:
      return text;
  }
}

function lastLines(stderr: unknown): string[] {
  if (typeof stderr !== "string") return [];
  return stderr
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-stderrLines);
}
