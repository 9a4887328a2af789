import type { ErrorCode } from "../../index.ts";
import type { Line } from "../terminal/live-area.ts";
import { safe } from "../terminal/print.ts";
import { withSameConfig } from "../terminal/same-config.ts";
import { cutText, displayWidth, wrapText } from "../terminal/text-width.ts";

export interface Finding {
  level: "ok" | "note" | "problem";
  about: string;
  message: string;
  /** What to do next. */
  advice?: string;
  /** The code of the error behind it. */
  code?: ErrorCode;
  /** The server's last lines on stderr. */
  stderr?: string[];
}

const marks = { ok: ["✓", "green"], note: ["!", "yellow"], problem: ["✗", "red"] } as const;

/** What is broken first, then what is worth knowing, then what is fine. */
export function worstFirst(findings: readonly Finding[]): Finding[] {
  const { problem = [], note = [], ok = [] } = Object.groupBy(findings, ({ level }) => level);
  return [...problem, ...note, ...ok];
}

/** The same finding, whose advice means the servers of this `--config`. */
export function ofSameConfig(finding: Finding, config: string | undefined): Finding {
  const { advice } = finding;
  return advice === undefined ? finding : { ...finding, advice: withSameConfig(advice, config) };
}

/** Formats a finding as text and escapes it. */
export function findingLines({ level, about, message, advice, stderr = [] }: Finding, width: number): Line[] {
  const [mark, style] = marks[level];
  const room = Math.max(20, width - 2);
  const name = safe(about);
  const head = [{ text: mark, style }, { text: " " }];
  // A name that does not fit beside its mark gets lines of its own.
  const isLong = displayWidth(name) > room;
  const [ownName = "", ...moreName] = isLong ? wrapText(name, room) : [name];
  const [first = "", ...rest] = isLong
    ? ["", ...wrapText(safe(message), room)]
    : wrapText(`${name}  ${safe(message)}`, room);
  return [
    [...head, { text: ownName, style: "bold" }, { text: first.slice(name.length) }],
    ...moreName.map((text): Line => [{ text: `  ${text}`, style: "bold" }]),
    ...rest.map((text) => [{ text: `  ${text}` }]),
    ...stderr.map((line): Line => [{ text: `  │ ${cutText(safe(line), room - 2)}`, style: "dim" }]),
    ...(advice === undefined ? [] : wrapText(safe(advice), room - 2)).map((text, index): Line => [
      { text: `  ${index === 0 ? "→" : " "} ${text}`, style: "cyan" },
    ]),
  ];
}
