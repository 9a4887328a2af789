import { PlugboardError } from "../../index.ts";

/** Splits what `-e KEY=value` and `-H 'Name: value'` were given. The message does not repeat it: it may be a secret. */
export function splitPair(pair: string, separator: "=" | ":", form: string): [string, string] {
  const at = pair.indexOf(separator);
  if (at < 1) throw new PlugboardError("usage-invalid", `Invalid pair. Write it as ${form}.`);
  const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
  return separator === ":" ? [name.trim(), value.trim()] : [name, value];
}
