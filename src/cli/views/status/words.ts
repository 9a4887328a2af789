import { serverState } from "../../../host.ts";
import type { Style } from "../../terminal/print.ts";
import { count, safe } from "../../terminal/print.ts";
import type { StatusRow } from "./board.ts";

/** A state's name, and its colour. */
export function stateLook(row: StatusRow): { word: string; style: Style } {
  const word = serverState(row);
  return { word, style: row.state === "disabled" ? "dim" : styles[row.state] };
}

const styles: Record<Exclude<StatusRow["state"], "disabled">, Style> = {
  ready: "cyan",
  connecting: "cyan",
  connected: "green",
  degraded: "yellow",
  "needs-auth": "yellow",
  "needs-registration": "yellow",
  waiting: "red",
  failed: "red",
  closed: "dim",
};

/** Shown instead of the connection's details while there is no connection. */
export function note(row: StatusRow, now: number): string {
  switch (row.state) {
    case "connecting": {
      const waited = Math.floor((now - (row.since ?? now)) / 1000);
      return [waited > 0 ? `${waited} s` : "", row.detail ?? ""].filter(Boolean).join("  ");
    }
    case "waiting": {
      const left = Math.ceil(((row.retryAt ?? 0) - now) / 1000);
      return left > 0 ? `retrying in ${left} s` : "";
    }
    case "disabled":
      return row.disabledReason === "off" ? "" : (row.message ?? "");
    // What went wrong is said in words below the table.
    default:
      return "";
  }
}

export function serverName({ serverInfo }: StatusRow): string {
  const { name, version } = serverInfo ?? {};
  return [name, version].filter((part) => typeof part === "string").join(" ");
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 9_995 ? 2 : 1)} s`;
}

/** A server's state as one log line. */
export function describeRow(row: StatusRow): string {
  const facts = [
    stateLook(row).word,
    row.protocolVersion ?? "",
    row.toolCount === undefined ? "" : count(row.toolCount, "tool"),
    serverName(row),
    row.protocolVersion === undefined && row.disabledReason !== "off" ? (row.message ?? "") : "",
    row.protocolVersion === undefined && row.hint !== undefined && row.disabledReason !== "off"
      ? `→ ${row.hint}`
      : "",
  ];
  return `${safe(row.name)}  ${facts.filter(Boolean).map(safe).join("  ")}`;
}
