import { copyExact, parseExact } from "../../lib/exact-json.ts";
import { isRecord } from "../../lib/record.ts";
import { formatPath, valueAt } from "../../config/documents/document.ts";
import { wrongType, type Finding } from "./run.ts";
import { createFinder } from "./validate.ts";
import { orList, typeName, withArticle } from "./wording.ts";

export interface Repair {
  args: unknown;
  /** One sentence per change. */
  notes: string[];
}

/** Parsed strings may contain more strings to parse; deeper nesting is not an accident. */
const rounds = 4;

/**
 * Models write `"[1,2]"` for an array, `"5"` for a number, and `null` for an argument they omit. If the schema does not
 * allow a string (or null) there and only one reading is possible, the value is converted. Everything else is left
 * unchanged, because a clear error is better than a guess.
 */
export function repairArguments(schema: unknown, args: unknown): Repair {
  const find = createFinder(schema);
  const notes: string[] = [];
  let repaired = args;
  let findings = find(args);
  for (let round = 0; round < rounds && findings.length > 0; round++) {
    const changes = findings.flatMap((finding) => changeFor(finding, repaired) ?? []);
    if (changes.length === 0) break;
    const candidate = changes.reduce(apply, repaired);
    const after = find(candidate);
    // Discard changes that leave their place invalid; they were misreadings.
    const good = changes.filter((change) => !after.some((finding) => isSamePlace(finding.at, change.at)));
    if (good.length === 0) break;
    repaired = good.length === changes.length ? candidate : good.reduce(apply, repaired);
    findings = good.length === changes.length ? after : find(repaired);
    notes.push(...good.map((change) => change.note));
  }
  return { args: repaired, notes };
}

interface Change {
  at: readonly (string | number)[];
  /** Absent if the member is to be removed. */
  value?: unknown;
  note: string;
}

function changeFor({ mistake, at, weight }: Finding, args: unknown): Change | undefined {
  if (weight !== wrongType || mistake.expected === undefined) return undefined;
  const wanted = mistake.expected.split(/, | or /);
  const given = at.length === 0 ? args : valueAt(args, at);
  const place = at.length === 0 ? "The arguments were" : `${formatPath(at)} was`;
  if (given === null && typeof at.at(-1) === "string")
    return { at, note: `${place} null, which is not allowed there, so it was left out.` };
  if (typeof given !== "string") return undefined;
  const value = read(given, wanted);
  if (value === undefined) return undefined;
  const type = withArticle(typeName(value));
  return {
    at,
    value,
    note: `${place} a string that contains ${type}; ${orList(wanted)} was expected, so the string was parsed.`,
  };
}

/** The only value that a string can mean if just these types are allowed. */
function read(text: string, wanted: readonly string[]): unknown {
  const value = parse(text.trim());
  if (value === undefined || typeof value === "string") return undefined;
  if (typeof value === "number") {
    if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return undefined;
    const isWanted = wanted.includes("number") || (wanted.includes("integer") && Number.isInteger(value));
    return isWanted ? value : undefined;
  }
  return wanted.includes(typeName(value)) ? value : undefined;
}

function parse(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** A copy with one place changed; shares everything that is not on the path. */
function apply(value: unknown, change: Change): unknown {
  return edit(value, change.at, change);
}

function edit(value: unknown, at: readonly (string | number)[], change: Change): unknown {
  const [step, ...rest] = at;
  if (step === undefined) return change.value;
  if (Array.isArray(value))
    return copyExact(
      value,
      value.map((item, index) => (index === step ? edit(item, rest, change) : item)),
    );
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    if (name !== step) return [[name, member]];
    return rest.length === 0 && !("value" in change) ? [] : [[name, edit(member, rest, change)]];
  });
  return copyExact(value, Object.fromEntries(entries));
}

function isSamePlace(a: readonly (string | number)[], b: readonly (string | number)[]): boolean {
  return a.length === b.length && a.every((step, index) => step === b[index]);
}
