import { matchesAny } from "../../lib/glob.ts";
import { isRecord } from "../../lib/record.ts";
import { readableGlobs, readingsOf } from "./readings.ts";
import { fileGlobs, sameFiles } from "./same-file.ts";

/** Whether conditions hold. `maybe` where a value cannot be compared for certain: then the stricter mode applies. */
export type Certainty = "yes" | "maybe" | "no";

/** Longer values are not compared, and no more than this for one condition: arguments may be hostile. */
const longestValue = 16_384;
const mostCompared = 262_144;
const longestPattern = 500;

/** Whether the values at these JSON pointers match. Takes time linear in the size of the arguments. */
export function holds(
  when: Readonly<Record<string, string | readonly string[]>>,
  args: Record<string, unknown>,
): Certainty {
  let all: Certainty = "yes";
  for (const [pointer, globs] of Object.entries(when)) {
    const one = holdsAt(args, stepsOf(pointer), typeof globs === "string" ? [globs] : globs);
    if (one === "no") return "no";
    if (one === "maybe") all = "maybe";
  }
  return all;
}

/** If only some values of a list match, that is a maybe: a harmless value must not carry another one along. */
function holdsAt(args: unknown, steps: readonly string[], written: readonly string[]): Certainty {
  const globs = { written, readable: readableGlobs(written), files: fileGlobs(written) };
  const found = { yes: 0, maybe: 0, no: 0 };
  let left = mostCompared;
  visitAt(
    args,
    steps,
    0,
    (value) => {
      const text = textOf(value);
      left -= text?.length ?? 0;
      found[text === undefined || left < 0 ? "maybe" : compare(text, globs)]++;
      return left >= 0;
    },
    () => found.no++,
  );
  if (found.yes > 0 && found.maybe + found.no === 0) return "yes";
  return found.yes + found.maybe > 0 ? "maybe" : "no";
}

/** Calls `visit` with each value at a pointer until it returns false, and `onMissing` where there is none. */
function visitAt(
  value: unknown,
  steps: readonly string[],
  from: number,
  visit: (value: unknown) => boolean,
  onMissing: () => void,
): boolean {
  const step = steps[from];
  const goOn = (inner: unknown, next: number) => visitAt(inner, steps, next, visit, onMissing);
  if (Array.isArray(value)) {
    if (step === undefined) return value.every((item) => goOn(item, from));
    if (step === "*") return value.every((item) => goOn(item, from + 1));
    // Any other step leads nowhere in a list; whether the server sees it like this is not known.
    if (!/^\d{1,9}$/.test(step)) return visit(value);
    if (Number(step) < value.length) return goOn(value[Number(step)], from + 1);
  } else if (step === undefined) {
    return visit(value);
  } else if (isRecord(value) && Object.hasOwn(value, step)) {
    return goOn(value[step], from + 1);
  }
  onMissing();
  return true;
}

/** The text that is compared: numbers, switches and null as JSON writes them. Undefined if there is none. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value.length > longestValue ? undefined : value;
  // What JavaScript made of a large number is not what the server gets.
  if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER) return undefined;
  return typeof value === "object" && value !== null ? undefined : JSON.stringify(value);
}

/** A path or URL has to match in every way in which it can be read, or `docs/../../etc` would pass for `docs/*`. */
function compare(text: string, globs: Globs): Certainty {
  const { written, readable } = globs;
  const isWritten = matchesAny(written, text);
  let matched = isWritten ? 1 : 0;
  const readings = readingsOf(text);
  for (const reading of readings) {
    const isMatch = reading === text ? isWritten : matchesAny(written, reading);
    if (isMatch || (readable && matchesAny(readable, reading))) matched++;
  }
  if (matched === readings.size + 1) return "yes";
  return matched > 0 || isSameFile(text, globs) ? "maybe" : "no";
}

function isSameFile(text: string, { files }: Globs): boolean {
  return files.length > 0 && [...sameFiles(text)].some((file) => matchesAny(files, file));
}

interface Globs {
  written: readonly string[];
  /** In the spelling of readings, if that is another one. */
  readable: readonly string[] | undefined;
  /** Those about files, in the spelling of `sameFiles`. */
  files: readonly string[];
}

function stepsOf(pointer: string): string[] {
  const steps = pointer.slice(1).split("/");
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** What is wrong with a JSON pointer, if anything. The root is an object, which nothing can be compared with. */
export function pointerMistake(pointer: string): string | undefined {
  if (!pointer.startsWith("/") || pointer.length === 1)
    return "expected a JSON pointer to an argument, such as `/path` or `/files/*/path`";
  if (/~(?![01])/.test(pointer)) return "in a JSON pointer, `~` is written `~0` and `/` within a name `~1`";
  return pointer.length > longestPattern ? `must have at most ${longestPattern} characters` : undefined;
}

/** A pattern that looks like it means something else would never match, and a rule that should deny would not. */
export function globMistake(glob: string): string | undefined {
  if (glob === "") return "must not be empty; `*` matches any text";
  if (glob.length > longestPattern) return `must have at most ${longestPattern} characters`;
  if (/\$\{/.test(glob)) return "references such as `${HOME}` are not filled in here; write the value";
  if (/[[\]{}]/.test(glob))
    return "only `*` and `?` are wildcards; write a list for several patterns, and `?` for a bracket";
  return undefined;
}
