import { PlugboardError } from "../../index.ts";
import type { ParseError } from "jsonc-parser";

/** Parses JSON that a person wrote; a mistake is told with its line and column. */
export async function parseJson(text: string, where: string): Promise<unknown> {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const at = await firstMistake(text);
    const before = text.slice(0, at);
    const line = before.split("\n").length;
    const column = at - before.lastIndexOf("\n");
    const found = text.slice(at, at + 20).split("\n")[0];
    const what = at >= text.length ? "it ends too early" : `${JSON.stringify(found)} is not expected there`;
    throw new PlugboardError("usage-invalid", `JSON in ${where}, line ${line}, column ${column}: ${what}.`, {
      data: { line, column },
      hint: "Put single quotes around JSON, so that the shell leaves its double quotes alone.",
      cause: error,
    });
  }
}

async function firstMistake(text: string): Promise<number> {
  const { parse } = await import("jsonc-parser");
  const mistakes: ParseError[] = [];
  parse(text, mistakes, { disallowComments: true, allowTrailingComma: false });
  return Math.min(text.length, ...mistakes.map(({ offset }) => offset));
}
