import { serverState } from "../../../host.ts";
import type { ServerEntry } from "../../../config.ts";
import { accountLine } from "../account.ts";
import { problemOf } from "../connection-findings.ts";
import { findingLines, ofSameConfig } from "../finding.ts";
import { cutLine } from "../../terminal/live-area.ts";
import type { Line } from "../../terminal/live-area.ts";
import { count, safe } from "../../terminal/print.ts";
import { isConnected } from "./board.ts";
import type { StatusRow } from "./board.ts";
import { note, seconds, serverName, stateLook } from "./words.ts";
import { cutText, displayWidth } from "../../terminal/text-width.ts";

export interface StatusView {
  /** The file that was given with `--config`. */
  config?: string | undefined;
  rows: StatusRow[];
  entry(name: string): ServerEntry | undefined;
  /** Width of the terminal; `Infinity` if nothing needs to be cut. */
  width: number;
  now: number;
}

/** The table, followed by the problems. */
export function statusLines(view: StatusView): Line[] {
  const { rows, entry, width } = view;
  const findings = rows.flatMap((row) => problemOf(row, entry(row.name)) ?? []);
  return [
    ...tableLines(view),
    ...accountLines(view),
    ...findings.flatMap((finding) => [[], ...findingLines(ofSameConfig(finding, view.config), width)]),
  ];
}

/** The accounts that are logged in. */
function accountLines({ rows, width, now }: StatusView): Line[] {
  const lines = rows.flatMap(({ name, account }): Line[] =>
    account ? [[{ text: safe(`${name} as ${accountLine(account, now)}`), style: "dim" }]] : [],
  );
  return lines.length > 0 ? [[], ...lines.map((line) => cutLine(line, width))] : [];
}

/** `3 of 4 servers are connected.` */
export function summaryLine(rows: readonly StatusRow[]): string {
  const states = rows.map((row) => (isConnected(row) ? "connected" : serverState(row)));
  const counts = [...new Set(["connected", ...states])].map(
    (state) => [state, states.filter((one) => one === state).length] as const,
  );
  const [only] = states;
  if (states.every((state) => state === only)) return `${count(rows.length, "server")} ${only}.`;
  const words = counts.flatMap(([state, number]) => (number === 0 ? [] : [`${number} ${state}`]));
  return `${count(rows.length, "server")}: ${words.join(", ")}.`;
}

type Column = "NAME" | "STATE" | "VIA" | "PROTOCOL" | "ERA" | "TOOLS" | "START" | "SERVER";

const columns: readonly Column[] = ["NAME", "STATE", "VIA", "PROTOCOL", "ERA", "TOOLS", "START", "SERVER"];
/** Columns that a narrow terminal drops, in this order. */
const dropOrder: readonly Column[] = ["ERA", "START", "VIA", "SERVER", "PROTOCOL", "TOOLS"];
const minServerWidth = 12;
const gap = 2;

export function tableLines({ rows, width, now }: StatusView): Line[] {
  const longestName = Number.isFinite(width) ? Math.max(12, Math.floor(width * 0.3)) : Infinity;
  const cells = rows.map((row) => cellsOf(row, longestName));
  const widths = new Map(columns.map((column) => [column, widest(column, cells)]));
  const widthOf = (column: Column) => widths.get(column) ?? 0;
  const needed = (shown: readonly Column[]) =>
    shown.reduce((sum, column) => {
      const own = column === "SERVER" ? Math.min(widthOf(column), minServerWidth) : widthOf(column);
      return sum + own + gap;
    }, 0);
  let shown = columns;
  for (const column of dropOrder) {
    if (needed(shown) <= width) break;
    shown = shown.filter((one) => one !== column);
  }
  const pad = (text: string, column: Column) => {
    const space = " ".repeat(Math.max(0, widthOf(column) - displayWidth(text)));
    const isNumber = column === "TOOLS" || column === "START";
    if (column === "SERVER") return text;
    return `${isNumber ? space + text : text + space}${" ".repeat(gap)}`;
  };
  const header = shown.map((column) => ({ text: pad(column, column), style: "dim" as const }));
  const body = rows.map((row, index): Line => {
    const own = cells[index] ?? cellsOf(row, longestName);
    const { style } = stateLook(row);
    const facts = row.protocolVersion === undefined ? safe(note(row, now)) : undefined;
    const before = facts === undefined ? shown : shown.filter((column) => columns.indexOf(column) < 3);
    const line = before.map((column) => ({
      text: pad(own[column], column),
      style: column === "STATE" ? style : undefined,
    }));
    return facts === undefined ? line : [...line, { text: facts, style: "dim" }];
  });
  return [header, ...body].map((line) => cutLine(line, width));
}

function widest(column: Column, cells: readonly Record<Column, string>[]): number {
  return cells.reduce((most, row) => Math.max(most, displayWidth(row[column])), column.length);
}

function cellsOf(row: StatusRow, longestName: number): Record<Column, string> {
  return {
    NAME: cutText(safe(row.name), longestName),
    STATE: stateLook(row).word,
    VIA: row.via,
    PROTOCOL: safe(row.protocolVersion ?? ""),
    ERA: row.era ?? "",
    TOOLS: row.toolCount === undefined ? "" : String(row.toolCount),
    START: row.startMs === undefined ? "" : seconds(row.startMs),
    SERVER: safe(serverName(row)),
  };
}
