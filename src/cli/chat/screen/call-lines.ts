import { nameText } from "../../../lib/name-text.ts";
import { isRecord } from "../../../lib/record.ts";
import type { Line } from "../../terminal/live-area.ts";
import { cutLine } from "../../terminal/live-area.ts";
import { safe } from "../../terminal/print.ts";

/** ` 1 → issues.search  query="open bugs" limit=10` */
export function callLine(number: number, name: string, args: unknown, width: number): Line {
  const line: Line = [
    { text: numberText(number), style: "dim" },
    { text: " → ", style: "cyan" },
    { text: safe(name), style: "bold" },
    { text: `  ${argumentsText(args, width)}`, style: "dim" },
  ];
  return cutLine(line, width);
}

/** ` 1 ✓ The first line of the result  (12 lines)`, and the files that came with it. */
export function resultLines(
  number: number,
  { isError, text, files }: { isError: boolean; text: string; files: readonly string[] },
  width: number,
): Line[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const [first] = lines;
  const mark = isError
    ? ({ text: " ✗ ", style: "red" } as const)
    : ({ text: " ✓ ", style: "green" } as const);
  const more = lines.length > 1 ? `  (${lines.length} lines, /show ${number})` : "";
  const said = safe(first ?? (files.length > 0 ? "" : "(nothing)")).trim();
  const indent = { text: numberText(number), style: "dim" } as const;
  const room = Math.max(10, width - numberText(number).length - 3 - more.length);
  const head: Line = [indent, mark, ...cutLine([{ text: said }], room), { text: more, style: "dim" }];
  const saved = files.map((file): Line => [
    { text: "     " },
    { text: `saved as ${safe(file)}`, style: "cyan" },
  ]);
  return said === ""
    ? saved.map((line, at) => (at === 0 ? [indent, mark, ...line.slice(1)] : line))
    : [head, ...saved];
}

function numberText(number: number): string {
  return String(number).padStart(2);
}

/** `key=value` for each argument, and only as much as may be shown. */
function argumentsText(args: unknown, width: number): string {
  if (!isRecord(args)) return short(args, width);
  let text = "";
  for (const [name, value] of Object.entries(args)) {
    if (text.length > width) break;
    text += `${text === "" ? "" : " "}${nameText(name)}=${short(value, width)}`;
  }
  return text;
}

function short(value: unknown, width: number): string {
  const text = typeof value === "string" && /^[^\s"'=]+$/.test(value) ? value : (JSON.stringify(value) ?? "");
  return safe(text.slice(0, width + 1));
}
