import type { FieldChange, PinChange } from "../../index.ts";
import { printableJson } from "../../lib/printable.ts";
import type { Line } from "../terminal/live-area.ts";
import { count, safe } from "../terminal/print.ts";
import { wrapText } from "../terminal/text-width.ts";

const mostFields = 40;
const longestText = 10_000;
const longestName = 200;
/** How much of what is the same is shown around a change. */
const context = 50;

const kinds = {
  tools: "tool",
  prompts: "prompt",
  resourceTemplates: "resource template",
  instructions: "instructions",
  package: "package",
} as const;

/**
 * A change as a diff: each place with what was there and what is there now. Every line of a text of others begins with
 * our own mark, so that none of it can look like another line of the diff.
 */
export function changeLines({ kind, name, change, fields }: PinChange, width: number): Line[] {
  const style = change === "missing" ? "red" : "yellow";
  const title = [kinds[kind], shownName(name)].filter((part) => part !== "").join(" ");
  const shown = fields.slice(0, mostFields);
  const more = fields.length - shown.length;
  return [
    [{ text: `  ${title}  ` }, { text: change, style }],
    ...(change === "missing" ? [] : shown.flatMap((field) => fieldLines(field, width))),
    ...(more > 0
      ? [[{ text: `      … ${count(more, "more place")}; --json shows all`, style: "dim" as const }]]
      : []),
  ];
}

/** One place of a diff. */
export function fieldLines({ path, ...sides }: FieldChange, width: number): Line[] {
  const before = "before" in sides ? asText(sides.before) : undefined;
  const after = "after" in sides ? asText(sides.after) : undefined;
  const [was, is] =
    before !== undefined && after !== undefined
      ? differing(before, after)
      : [before?.split("\n"), after?.split("\n")];
  return [
    ...(path === "" ? [] : [[{ text: `      ${shownName(path)}`, style: "dim" as const }]]),
    ...marked("-", was, "red", width),
    ...marked("+", is, "green", width),
  ];
}

function marked(
  mark: "-" | "+",
  lines: readonly string[] | undefined,
  style: "red" | "green",
  width: number,
): Line[] {
  if (!lines) return [];
  const room = Math.max(20, width - 10);
  return shortened(lines)
    .flatMap((line) => wrapText(safe(line), room))
    .map((text): Line => [{ text: `        ${mark} ${text}`, style }]);
}

/** Only what differs is counted, so that a long beginning hides no change at the end. */
function shortened(lines: readonly string[]): string[] {
  const text = lines.join("\n");
  const rest = text.length - longestText;
  if (rest <= 0) return [...lines];
  return `${text.slice(0, longestText)} … (${rest} more characters; --json shows all)`.split("\n");
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : printableJson(JSON.stringify(value) ?? "");
}

/** A name that others chose, on one line. */
export function shownName(name: string): string {
  return safe(name.length > longestName ? `${name.slice(0, longestName)}…` : name);
}

/** The lines that differ, and of a single line that differs only the part around the difference. */
function differing(before: string, after: string): [string[], string[]] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start++;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const was = old.slice(start, old.length - end);
  const is = now.slice(start, now.length - end);
  const [only, other] = [was[0], is[0]];
  if (was.length !== 1 || is.length !== 1 || only === undefined || other === undefined) return [was, is];
  return aroundDifference(only, other);
}

function aroundDifference(before: string, after: string): [string[], string[]] {
  const least = Math.min(before.length, after.length);
  let start = 0;
  while (start < least && before[start] === after[start]) start++;
  let end = 0;
  while (end < least - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const cut = (text: string) => {
    const from = start > context + 10 ? start - context : 0;
    const to = end > context + 10 ? text.length - end + context : text.length;
    return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
  };
  return [[cut(before)], [cut(after)]];
}
