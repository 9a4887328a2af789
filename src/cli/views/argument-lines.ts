import { exactText, stringifyExact } from "../../lib/exact-json.ts";
import { nameText } from "../../lib/name-text.ts";
import { printable } from "../../lib/printable.ts";
import { isRecord } from "../../lib/record.ts";
import { displayWidth, hardWrap } from "../terminal/text-width.ts";
import { cutLines, markedText, turnsLine } from "./marked-text.ts";

const maxDepth = 6;
const widestName = 32;
/** Fewer lines are shown whole. Of more, each argument gets its part, which has these limits. */
const enoughLines = 40;
const [leastLines, mostLines] = [3, 12];

export interface ArgumentsView {
  /** Columns of a line. */
  width: number;
  /** Nothing is left out. */
  isWhole?: boolean;
}

export interface ShownArguments {
  lines: string[];
  /** True if something was left out. */
  isCut: boolean;
}

/**
 * The arguments of a call for a person who decides about it. Each has a line of its own, which no text in another one
 * can imitate; what is too long is cut by itself, so that it pushes no other out of sight.
 */
export function argumentLines(
  args: Record<string, unknown>,
  { width, isWhole = false }: ArgumentsView,
): ShownArguments {
  const members = membersOf(args);
  if (members.length === 0) return { lines: ["No arguments."], isCut: false };
  const most = Math.min(mostLines, Math.max(leastLines, Math.floor(enoughLines / members.length)));
  const inner = Math.max(20, width - 2);
  const all = memberLines(members, inner, 0);
  const fits = all.flat().length <= enoughLines;
  const shown = isWhole || fits ? all : all.map((lines) => cutLines(lines, most, "  "));
  const isCut = shown.some((lines, index) => lines.length !== all[index]?.length);
  const heading =
    members.length > mostLines ? `Arguments (${members.length.toLocaleString("en")}):` : "Arguments:";
  return { lines: [heading, ...shown.flat().map((line) => `  ${line}`)], isCut };
}

interface Member {
  name: string;
  value: unknown;
  /** The value as JSON, where it is a number that JavaScript cannot hold. */
  exact: string | undefined;
}

/** The lines of each member. */
function memberLines(members: readonly Member[], width: number, depth: number): string[][] {
  const shown = members.map((member) => ({ ...member, name: nameText(member.name) }));
  let column = 0;
  for (const { name } of shown) column = Math.min(widestName, Math.max(column, displayWidth(name)));
  return shown.map(({ name, value, exact }) => {
    const nested = depth < maxDepth ? nestedMembers(value) : undefined;
    if (nested) {
      const inner = memberLines(nested, Math.max(20, width - 2), depth + 1).flat();
      return [...nameLines(name, width), ...inner.map((line) => `  ${line}`)];
    }
    const text = exact ?? plainText(value);
    const start = name + " ".repeat(Math.max(0, column - displayWidth(name)) + 2);
    const isOneLine =
      text !== undefined && displayWidth(start + text) <= width && !turnsLine.test(start + text);
    if (isOneLine) return [start + text];
    const whole = typeof value === "string" ? value : (exact ?? json(value));
    return [...nameLines(name, width), ...markedText(whole, width - 2).map((line) => `  ${line}`)];
  });
}

function nestedMembers(value: unknown): Member[] | undefined {
  const members = Array.isArray(value) || isRecord(value) ? membersOf(value) : [];
  return members.length === 0 ? undefined : members;
}

function membersOf(holder: object): Member[] {
  const isList = Array.isArray(holder);
  return Object.entries(holder).map(([key, value]: [string, unknown], index) => ({
    name: isList ? `${index + 1}.` : key,
    value,
    exact: exactText(holder, key),
  }));
}

/** A long name goes on in lines that begin like no name. */
function nameLines(name: string, width: number): string[] {
  const [first = "", ...rest] = hardWrap(name, width - 2);
  return [first, ...rest.map((piece) => `┊ ${piece}`)];
}

/** A value on one line, in quotes where it could be taken for another one; undefined for a text of several lines. */
function plainText(value: unknown): string | undefined {
  if (typeof value !== "string") return printable(json(value), { oneLine: true });
  if (value.includes("\n") && value.length > 40) return undefined;
  return printable(isClear(value) ? value : JSON.stringify(value), { oneLine: true });
}

/** False for texts that look like numbers, JSON or nothing, and those with line breaks or spaces at their ends. */
function isClear(text: string): boolean {
  if (text.trim() !== text || text === "" || /[\n\t]/.test(text)) return false;
  if (!/^[-\d"{[tfn]/.test(text)) return true;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return !text.startsWith('"');
  }
}

function json(value: unknown): string {
  return stringifyExact(value) ?? "null";
}
