import { globalRegistry } from "zod/mini";
import type * as z from "zod/mini";
import { isRecord } from "../lib/record.ts";
import { nearest } from "../lib/suggest.ts";
import type { Path } from "./documents/document.ts";
import { notYet } from "./not-yet.ts";
import { sizeFault, tooDeep, valueAt } from "./documents/document.ts";

/** A mistake at a path in the document; the file and line are added later. */
export interface Finding {
  severity: "error" | "warning";
  path: Path;
  message: string;
  suggestion?: string;
}

/** Checks a value and reports every mistake in words for the person who wrote it. */
export function check<T extends z.ZodMiniType>(
  schema: T,
  value: unknown,
  base: Path,
): { data?: z.output<T>; findings: Finding[] } {
  const fault = sizeFault(value);
  if (fault) return { findings: [{ severity: "error", path: base, message: faultWords[fault] }] };
  const result = schema.safeParse(value);
  const lost = lostNames(value, base);
  if (result.success && lost.length === 0) return { data: result.data, findings: [] };
  return { findings: [...explained(result, schema, value, base), ...lost] };
}

function explained(
  { error }: { error?: z.core.$ZodError | undefined },
  schema: z.ZodMiniType,
  value: unknown,
  base: Path,
): Finding[] {
  return error?.issues.flatMap((issue) => explain(issue, schema, value, base)) ?? [];
}

/** The schemas leave out members of this name without a word, and a rule for such a tool would be lost. */
function lostNames(value: unknown, path: Path): Finding[] {
  if (typeof value !== "object" || value === null) return [];
  const members: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value).filter(([key]) => !key.startsWith("x-"));
  return members.flatMap(([key, member]): Finding[] => {
    const here = [...path, key];
    const message = "`__proto__` cannot be a name here";
    return key === "__proto__" ? [{ severity: "error", path: here, message }] : lostNames(member, here);
  });
}

const faultWords = { deep: tooDeep, large: "too large" };

/** More findings than this about one part of a file are only counted. */
const maxFindings = 50;

/** Mistakes come first, so that warnings do not crowd them out. */
export function countedFindings(findings: readonly Finding[], path: Path): Finding[] {
  if (findings.length <= maxFindings) return [...findings];
  const { error = [], warning = [] } = Object.groupBy(findings, ({ severity }) => severity);
  const message = `there are ${(findings.length - maxFindings).toLocaleString("en")} more mistakes here`;
  return [...[...error, ...warning].slice(0, maxFindings), { severity: "error", path, message }];
}

/** Whatever goes wrong while one part of a file is checked is a mistake of that part; the others go on. */
export function ownMistake<T extends { findings: Finding[] }>(
  path: Path,
  examine: () => T,
): Partial<T> & Pick<T, "findings"> {
  try {
    return examine();
  } catch (error) {
    return { findings: [{ severity: "error", path, message: cannotCheck(error) }] } as Partial<T> & T;
  }
}

export function cannotCheck(error: unknown): string {
  return `this cannot be checked (${error instanceof Error ? error.name : "unknown error"})`;
}

function explain(issue: z.core.$ZodIssue, schema: z.ZodMiniType, root: unknown, base: Path): Finding[] {
  const path = [...base, ...(issue.path as (string | number)[])];
  const value = valueAt(root, issue.path as Path);
  const error = (message: string, suggestion?: string): Finding[] => [
    { severity: "error", path, message, ...(suggestion === undefined ? {} : { suggestion }) },
  ];
  const example = exampleAt(schema, issue.path as Path);
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => unknownKey(key, [...path, key], keysAt(schema, issue.path as Path)));
    case "invalid_type":
      return error(`expected ${describeType(issue.expected)}, found ${describeValue(value)}`, example);
    case "invalid_value":
    case "invalid_union": {
      const meant =
        issue.code === "invalid_union" ? objectOption(schema, issue.path as Path, value) : undefined;
      const inside = meant ? explained(meant.safeParse(value), meant, value, path) : [];
      if (inside.length > 0) return inside;
      const values =
        issue.code === "invalid_value" ? issue.values.map(String) : valuesAt(schema, issue.path as Path);
      const near = typeof value === "string" ? nearest(value, values) : undefined;
      const message =
        issue.code === "invalid_value"
          ? `expected ${values.map((option) => `\`${option}\``).join(" or ")}`
          : issue.message;
      return error(message, near ? `did you mean \`${near}\`?` : example);
    }
    case "too_small": {
      const isNumber = issue.origin === "number" || issue.origin === "int";
      return error(isNumber ? `must be at least ${issue.minimum}` : "must not be empty", example);
    }
    case "invalid_key":
      return error(issue.issues[0]?.message ?? issue.message, example);
    case "too_big":
      return error(`must be at most ${issue.maximum}`, example);
    default:
      return error(issue.message, example);
  }
}

export function unknownKey(key: string, path: Path, known: readonly string[]): Finding {
  const planned = notYet[path.join(".")];
  if (planned) return { severity: "error", path, ...planned };
  const near = nearest(key, known);
  return {
    severity: "error",
    path,
    message: `unknown field \`${brief(key)}\``,
    suggestion: near
      ? `did you mean \`${near}\`?`
      : "remove it, or start its name with `x-` to keep it as a note",
  };
}

/** What is quoted of a text that may be as long as the file. */
export function brief(text: string, most = 100): string {
  return text.length > most ? `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "")}…` : text;
}

/** The field names that a schema accepts at a path, for suggestions. */
function keysAt(schema: z.ZodMiniType, path: Path): string[] {
  const def = unwrap(schemaAt(schema, path))?._zod.def as unknown as AnyDef | undefined;
  return def?.type === "object" ? Object.keys(def.shape ?? {}) : [];
}

/** The fixed values that a union at a path accepts, for suggestions. */
function valuesAt(schema: z.ZodMiniType, path: Path): string[] {
  const def = unwrap(schemaAt(schema, path))?._zod.def as unknown as AnyDef | undefined;
  return (def?.options ?? []).flatMap((option) => [...(option._zod.values ?? [])].map(String));
}

/** Of a union that accepts one kind of object, that one, if an object was written: its mistake is somewhere inside. */
function objectOption(schema: z.ZodMiniType, path: Path, value: unknown): z.ZodMiniType | undefined {
  if (!isRecord(value)) return undefined;
  const def = unwrap(schemaAt(schema, path))?._zod.def as unknown as AnyDef | undefined;
  const [only, ...others] = (def?.options ?? []).filter(
    (option) => (option._zod.def as unknown as AnyDef).type === "object",
  );
  return others.length === 0 ? (only as z.ZodMiniType | undefined) : undefined;
}

/** `for example …`, with the example from the configuration reference. */
function exampleAt(schema: z.ZodMiniType, path: Path): string | undefined {
  const found = schemaAt(schema, path);
  const [example] =
    (found && (globalRegistry.get(found) as { examples?: unknown[] } | undefined)?.examples) ?? [];
  return example === undefined ? undefined : `for example ${JSON.stringify(example)}`;
}

function schemaAt(schema: z.ZodMiniType, path: Path): z.core.$ZodType | undefined {
  let here: z.core.$ZodType | undefined = schema;
  for (const step of path) {
    const inner = unwrap(here);
    here = inner && childOf(inner, step);
  }
  return here;
}

interface AnyDef {
  type: string;
  innerType?: z.core.$ZodType;
  shape?: Record<string, z.core.$ZodType>;
  valueType?: z.core.$ZodType;
  element?: z.core.$ZodType;
  options?: z.core.$ZodType[];
}

function childOf(schema: z.core.$ZodType, step: string | number): z.core.$ZodType | undefined {
  const def = schema._zod.def as unknown as AnyDef;
  return def.shape?.[step] ?? def.valueType ?? def.element;
}

function unwrap(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  const def = schema?._zod.def as unknown as AnyDef | undefined;
  return def?.type === "optional" ? unwrap(def.innerType) : schema;
}

function describeType(expected: string): string {
  const words: Record<string, string> = {
    array: "a list",
    object: "an object",
    record: "an object",
    boolean: "true or false",
    int: "a whole number",
    number: "a number",
    string: "a string",
  };
  return words[expected] ?? expected;
}

function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number") return Number.isInteger(value) ? "a number" : "a fraction";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
