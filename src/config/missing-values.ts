import { PlugboardError } from "../errors.ts";
import { joinArgv } from "../lib/argv.ts";
import type { ServerEntry } from "./model.ts";

export interface MissingValue {
  /** As written: `${NAME}` or `${secret:NAME}`. */
  reference: string;
  field: string;
}

export function missingValues(entry: ServerEntry, missing: readonly MissingValue[]): PlugboardError {
  const place = entry.origin.file ? ` (${entry.origin.file}:${entry.origin.line ?? 1})` : "";
  const list = [...new Set(missing.map(({ reference, field }) => `${reference} in ${field}`))].join(", ");
  const message = `Server "${entry.name}" needs ${list}${place}.`;
  const hint = howToSet(missing);
  return new PlugboardError("value-missing", message, {
    server: entry.name,
    data: { missing },
    ...(hint !== undefined && { hint }),
  });
}

/** What to do about the first missing value, if its name is a plain one; the others follow when it is there. */
function howToSet([first]: readonly MissingValue[]): string | undefined {
  const { kind, name } = plainReference(first?.reference ?? "");
  if (name === undefined) return undefined;
  const command = joinArgv(["plugboard", "secret", "set", name]);
  if (kind !== undefined) return `Run \`${command}\`.`;
  return `Export ${name}, or write \${secret:${name}} and run \`${command}\`.`;
}

/** `X` for `${X}`, `the secret X` for `${secret:X}`; anything else as it is written. */
export function missingName(reference: string): string {
  const { kind, name } = plainReference(reference);
  if (name === undefined) return reference;
  return kind === undefined ? name : `the secret ${name}`;
}

function plainReference(reference: string): { kind: string | undefined; name: string | undefined } {
  const [, kind, name] = /^\$\{(secret:)?([A-Za-z_]\w*)\}$/.exec(reference) ?? [];
  return { kind, name };
}
