import { PlugboardError } from "../../index.ts";
import { parseExact } from "../../lib/exact-json.ts";
import type { ParseError } from "jsonc-parser";

/** Parses handwritten JSON and reports a mistake with its line and column. */
export async function parseJson(text: string, where: string): Promise<unknown> {
  try {
    return parseExact(text);
  } catch (error) {
    const at = await firstMistake(text);
    const before = text.slice(0, at);
    const line = before.split("\n").length;
    const column = at - before.lastIndexOf("\n");
    const found = text.slice(at, at + 20).split("\n")[0];
    const what = at >= text.length ? "unexpected end" : `unexpected ${JSON.stringify(found)}`;
    throw new PlugboardError(
      "usage-invalid",
      `Invalid JSON in ${where}, line ${line}, column ${column}: ${what}.`,
      {
        data: { line, column },
        hint: "Put single quotes around JSON so that the shell keeps its double quotes.",
        cause: error,
      },
    );
  }
}

async function firstMistake(text: string): Promise<number> {
  const { parse } = await import("jsonc-parser");
  const mistakes: ParseError[] = [];
  parse(text, mistakes, { disallowComments: true, allowTrailingComma: false });
  return Math.min(text.length, ...mistakes.map(({ offset }) => offset));
}
