import { isRecord } from "../../lib/record.ts";
import { formatPath, valueAt } from "../../config/documents/document.ts";
import { wrongType, type Finding } from "./run.ts";
import { createFinder } from "./validate.ts";
import { orList, typeName, withArticle } from "./wording.ts";

export interface Repair {
  args: unknown;
  /** One sentence for each change; none when nothing was changed. */
  notes: string[];
}

/** Parsed texts may hold further texts to parse; deeper than this nobody writes by accident. */
const rounds = 4;

/**
 * Models write `"[1,2]"` where a list belongs, `"5"` for a number, and `null` for an argument they leave out.
 * Where the schema allows no text (or no null) at that place and there is only one way to read it, it is read that
 * way. Everything else stays as it was given: a guess is worse than a clear mistake.
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
    // A change that leaves its place wrong was a misreading; only the others are made.
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
  /** Absent when the member is to be left out. */
  value?: unknown;
  note: string;
}

function changeFor({ mistake, at, weight }: Finding, args: unknown): Change | undefined {
  if (weight !== wrongType || mistake.expected === undefined) return undefined;
  const wanted = mistake.expected.split(/, | or /);
  const given = at.length === 0 ? args : valueAt(args, at);
  const place = at.length === 0 ? "The arguments were" : `${formatPath(at)} was`;
  if (given === null && typeof at.at(-1) === "string")
    return { at, note: `${place} null, which is not allowed there, and was left out.` };
  if (typeof given !== "string") return undefined;
  const value = read(given, wanted);
  if (value === undefined) return undefined;
  const type = withArticle(typeName(value));
  return {
    at,
    value,
    note: `${place} a string that holds ${type}; ${orList(wanted)} was expected, so it was read as that.`,
  };
}

/** The one value that a text can mean where only these types are allowed. */
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
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A copy with one place changed; what is not on the way there is shared. */
function apply(value: unknown, change: Change): unknown {
  return edit(value, change.at, change);
}

function edit(value: unknown, at: readonly (string | number)[], change: Change): unknown {
  const [step, ...rest] = at;
  if (step === undefined) return change.value;
  if (Array.isArray(value))
    return value.map((item, index) => (index === step ? edit(item, rest, change) : item));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    if (name !== step) return [[name, member]];
    return rest.length === 0 && !("value" in change) ? [] : [[name, edit(member, rest, change)]];
  });
  return Object.fromEntries(entries);
}

function isSamePlace(a: readonly (string | number)[], b: readonly (string | number)[]): boolean {
  return a.length === b.length && a.every((step, index) => step === b[index]);
}
