import type { Style } from "../../terminal/print.ts";
import { count, safe } from "../../terminal/print.ts";
import type { StatusRow } from "./board.ts";

/** A state as one or two words, and its colour. */
export function stateLook(row: StatusRow, now: number): { word: string; style: Style } {
  switch (row.state) {
    case "connected":
      return { word: "connected", style: "green" };
    case "idle":
      return { word: "idle", style: "dim" };
    case "connecting":
      return { word: row.detail?.startsWith("installing") ? "installing…" : "connecting…", style: "cyan" };
    case "degraded":
      return { word: "degraded", style: "yellow" };
    case "needs-auth":
      return { word: "needs login", style: "yellow" };
    case "needs-registration":
      return { word: "needs client", style: "yellow" };
    case "disabled":
      return { word: row.disabledReason === "config" ? "off" : (row.disabledReason ?? "off"), style: "dim" };
    case "waiting":
      return (row.retryAt ?? 0) > now ? { word: "retrying", style: "red" } : { word: "failed", style: "red" };
    case "failed":
      return { word: "failed", style: "red" };
    case "closed":
      return { word: "closed", style: "dim" };
  }
}

/** Shown instead of the connection's details while there is no connection. */
export function note(row: StatusRow, now: number): string {
  switch (row.state) {
    case "connecting": {
      const waited = Math.floor((now - (row.since ?? now)) / 1000);
      const said = row.detail?.replace(/^installing:? ?/, "") ?? "";
      return [waited > 0 ? `${waited} s` : "", said].filter(Boolean).join("  ");
    }
    case "waiting": {
      const left = Math.ceil(((row.retryAt ?? 0) - now) / 1000);
      return [row.error?.code, left > 0 ? `retrying in ${left} s` : ""].filter(Boolean).join(", ");
    }
    case "disabled":
      return row.message ?? "";
    default:
      return row.error?.code ?? "";
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
export function describeRow(row: StatusRow, now: number): string {
  const facts = [
    stateLook(row, now).word,
    row.protocolVersion ?? "",
    row.toolCount === undefined ? "" : count(row.toolCount, "tool"),
    serverName(row),
    row.protocolVersion === undefined ? (row.message ?? "") : "",
    row.protocolVersion === undefined && row.hint !== undefined && row.disabledReason !== "config"
      ? `→ ${row.hint}`
      : "",
  ];
  return `${safe(row.name)}  ${facts.filter(Boolean).map(safe).join("  ")}`;
}
