import { isRecord } from "../lib/record.ts";
import { referencesIn } from "./template.ts";

/** The names of the secrets that a written entry refers to, each once. */
export function secretNamesIn(written: unknown): string[] {
  const names = textsIn(written)
    .flatMap(referencesIn)
    .flatMap(({ kind, name }) => (kind === "secret" ? [name] : []));
  return [...new Set(names)];
}

/** Every string in a value. Not recursive, because a file may nest as deeply as it likes. */
function textsIn(value: unknown): string[] {
  const texts: string[] = [];
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "string") texts.push(next);
    else if (Array.isArray(next) || isRecord(next)) for (const part of Object.values(next)) rest.push(part);
  }
  return texts;
}
