import { matchesAny } from "../../lib/glob.ts";
import { isRecord } from "../../lib/record.ts";

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
function holdsAt(args: unknown, steps: readonly string[], globs: readonly string[]): Certainty {
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

/** A path with `..` has to match as it is written and as it is meant, or `docs/../../etc` would pass for `docs/*`. */
function compare(text: string, globs: readonly string[]): Certainty {
  const isWritten = matchesAny(globs, text);
  const meant = withoutDots(withoutInvisible(text));
  const isMeant = meant === text ? isWritten : matchesAny(globs, meant);
  if (isWritten && isMeant) return "yes";
  return isWritten || isMeant ? "maybe" : "no";
}

/** Those who read a URL leave out line breaks and tabs everywhere, and spaces around it: `.\t.` is `..` for them. */
function withoutInvisible(text: string): string {
  return (/\p{Cc}/u.test(text) ? text.replaceAll(/\p{Cc}/gu, "") : text).trim();
}

/** A path or URL without `.` and `..`, also where they are escaped; any other text as it is. */
function withoutDots(text: string): string {
  if (!/(?:^|[/\\]|%2f|%5c)(?:\.|%2e)/i.test(text)) return text;
  const plain = text.replaceAll(/%2e/gi, ".").replaceAll(/%2f|%5c/gi, "/");
  const steps = plain.split(/[/\\]/).map(dotsIn);
  if (!steps.some(({ dots }) => dots !== undefined)) return text;
  const kept: string[] = [];
  for (const { dots, rest } of steps) {
    if (dots === "..") goUp(kept);
    if (dots === undefined || rest !== "") kept.push(rest);
  }
  return kept.join("/");
}

/** Dots mean the same before a query, a fragment or a parameter of a URL. */
function dotsIn(step: string): { dots?: string; rest: string } {
  const dots = /^\.{1,2}(?=[?#;]|$)/.exec(step)?.[0];
  return dots === undefined
    ? { rest: step }
    : { dots, rest: step.slice(dots.length).replace(/^;[^?#]*/, "") };
}

/** Leaves the last folder. `docs//..` leaves `docs`, and nothing is above the root. */
function goUp(steps: string[]): void {
  while (steps.length > 1 && steps.at(-1) === "") steps.pop();
  const last = steps.at(-1);
  if (last === undefined || last === "..") steps.push("..");
  else if (last !== "" || steps.length > 1) steps.pop();
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
