import { isRecord } from "../../lib/record.ts";

export interface TextAt {
  path: string;
  text: string;
  /** The name of a member, not a value. */
  isKey?: true;
}

/** Every text in a definition, names of members included. Definitions that are nested too deeply never get here. */
export function* textsIn(value: unknown, path = ""): Iterable<TextAt> {
  if (typeof value === "string") yield { path, text: value };
  else if (Array.isArray(value))
    for (const [at, item] of value.entries()) yield* textsIn(item, `${path}[${at}]`);
  else if (isRecord(value)) {
    for (const [key, member] of Object.entries(value)) {
      const here = path === "" ? key : `${path}.${key}`;
      yield { path: here, text: key, isKey: true };
      yield* textsIn(member, here);
    }
  }
}
