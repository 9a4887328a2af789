import type { FieldChange } from "../../config.ts";
import type { PinChange } from "../../host.ts";
import { isMainField } from "../../lib/definition-fields.ts";
import { nameText } from "../../lib/name-text.ts";
import { printableJson } from "../../lib/printable.ts";
import type { Line } from "../terminal/live-area.ts";
import { count, safe } from "../terminal/print.ts";
import { hardWrap } from "../terminal/text-width.ts";

const mostFields = 40;
const longestText = 10_000;
const longestName = 200;
/** Longer JSON is shown on several lines. */
const longestLine = 60;
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
 * our own mark, so that none of it can look like another line of the diff. What matters in a definition is always shown
 * whole; `isWhole` leaves out nothing else either.
 */
export function changeLines(
  { kind, name, change, fields }: PinChange,
  width: number,
  { isWhole = false } = {},
): Line[] {
  const style = change === "missing" ? "red" : "yellow";
  const isMost = (field: FieldChange) => isWhole || isMainField(field.path);
  const others = fields.filter((field) => !isMost(field)).slice(0, mostFields);
  const shown = change === "missing" ? [] : [...fields.filter(isMost), ...others];
  const more = change === "missing" ? 0 : fields.length - shown.length;
  const [first = "", ...rest] = nameLines(isWhole ? nameText(name) : shownName(name), width - 20);
  const title = [kinds[kind], first].filter((part) => part !== "" && part !== '""').join(" ");
  return [
    [{ text: `  ${title}  ` }, { text: change, style }],
    ...rest.map((text): Line => [{ text: `  ${text}` }]),
    ...shown.flatMap((field) => fieldLines(field, width, { isWhole: isMost(field) })),
    ...(more > 0
      ? [[{ text: `      … ${count(more, "more place")}; --json shows all`, style: "dim" as const }]]
      : []),
  ];
}

/** One place of a diff. */
export function fieldLines({ path, ...sides }: FieldChange, width: number, { isWhole = false } = {}): Line[] {
  const [before, after] = sideTexts(sides);
  const [was, is] =
    before !== undefined && after !== undefined
      ? differing(before, after)
      : [before?.split("\n"), after?.split("\n")];
  const place = nameLines(isWhole ? safe(path) : shownName(path), width - 8);
  return [
    ...(path === "" ? [] : place.map((text): Line => [{ text: `      ${text}`, style: "dim" }])),
    ...marked("-", was, "red", { width, isWhole }),
    ...marked("+", is, "green", { width, isWhole }),
  ];
}

/** A long name goes on in lines that begin like no other line of the diff. */
function nameLines(name: string, width: number): string[] {
  const [first = "", ...rest] = hardWrap(name, Math.max(20, width));
  return [first, ...rest.map((piece) => `┊ ${piece}`)];
}

function marked(
  mark: "-" | "+",
  lines: readonly string[] | undefined,
  style: "red" | "green",
  { width, isWhole }: { width: number; isWhole: boolean },
): Line[] {
  if (!lines) return [];
  const room = Math.max(20, width - 10);
  return (isWhole ? lines : shortened(lines))
    .flatMap((line) => hardWrap(safe(line), room))
    .map((text): Line => [{ text: `        ${mark} ${text}`, style }]);
}

/** Only what differs is counted, so that a long beginning hides no change at the end. */
function shortened(lines: readonly string[]): string[] {
  const text = lines.join("\n");
  const rest = text.length - longestText;
  if (rest <= 0) return [...lines];
  return `${text.slice(0, longestText)} … (${rest} more characters; --json shows all)`.split("\n");
}

/** Both sides as texts, as JSON if they would look the same otherwise: `1` and `"1"`, or spaces at an end. */
function sideTexts(sides: Omit<FieldChange, "path">): [string | undefined, string | undefined] {
  const { before, after } = sides;
  const [hasBefore, hasAfter] = [before !== undefined, after !== undefined];
  const isOther = (typeof before === "string") !== (typeof after === "string");
  const asText = hasBefore && hasAfter && (isOther || looksSame(before, after)) ? exactText : readableText;
  return [hasBefore ? asText(before) : undefined, hasAfter ? asText(after) : undefined];
}

function readableText(value: unknown): string {
  if (typeof value === "string") return isJson(value) ? exactText(value) : value;
  const line = printableJson(JSON.stringify(value) ?? "");
  return line.length <= longestLine ? line : printableJson(JSON.stringify(value, null, 2));
}

/** True for a text that looks like a number or another value. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function exactText(value: unknown): string {
  return (JSON.stringify(value) ?? "").replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** True for texts that a reader may not be able to tell apart: spaces, composed letters, letters of other alphabets. */
function looksSame(before: unknown, after: unknown): boolean {
  if (typeof before !== "string" || typeof after !== "string") return false;
  const plain = (text: string) => text.normalize("NFKC").replaceAll(/\s+/g, " ").trim();
  if (plain(before) === plain(after)) return true;
  const isForeign = /[^\x00-\x7f]/.test(before) !== /[^\x00-\x7f]/.test(after);
  return isForeign && Array.from(before).length === Array.from(after).length;
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
