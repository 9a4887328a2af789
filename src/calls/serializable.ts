import { PlugboardError } from "../errors.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import { parseExact, stringifyExact } from "../lib/exact-json.ts";

/**
 * Throws if JSON cannot represent the arguments: a bigint, a function, a symbol, a cycle, or values nested too deeply.
 * JSON.stringify would leave some of them out without a word, and everything that looks at the arguments before they are
 * written would stumble over the others.
 */
export function assertSerializable({ server, id, name }: ToolEntry, args: Record<string, unknown>): void {
  const mistake = mistakeIn(args);
  if (!mistake) return;
  const at = mistake.path === "" ? "" : `${mistake.path}: `;
  throw new PlugboardError(
    "arguments-invalid",
    `The arguments of ${name} cannot be written as JSON: ${at}${mistake.message}.`,
    { server, tool: id, data: { mistakes: [mistake] } },
  );
}

/** A copy of serializable arguments that nobody else can change, as JSON carries them. */
export function asSent(args: Record<string, unknown>): Record<string, unknown> {
  return parseExact(stringifyExact(args)) as Record<string, unknown>;
}

/** The same, unless there is nothing to change. */
export function ownCopy(args: Record<string, unknown>): Record<string, unknown> {
  return Object.keys(args).length === 0 ? args : asSent(args);
}

const deepest = 1_000;

interface Level {
  value: object;
  /** Undefined for a list. */
  keys: string[] | undefined;
  next: number;
}

function mistakeIn(args: unknown): { path: string; message: string } | undefined {
  if (typeof args !== "object" || args === null || isFlat(args)) return undefined;
  const levels: Level[] = [levelOf(args)];
  const above = new Set<object>([args]);
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const { keys, value: holder } = level;
    if (level.next === (keys ?? (holder as unknown[])).length) {
      above.delete(holder);
      levels.pop();
      continue;
    }
    const value = Reflect.get(holder, keyOf(level)) as unknown;
    level.next++;
    const message = problemOf(value, above, levels.length);
    if (message !== undefined) return { path: pathOf(levels), message };
    if (!isContainer(value)) continue;
    levels.push(levelOf(value));
    above.add(value);
  }
  return undefined;
}

/** Most calls have nothing but texts and numbers. */
function isFlat(args: object): boolean {
  for (const key in args) {
    const value: unknown = Reflect.get(args, key);
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return false;
  }
  return true;
}

function problemOf(value: unknown, above: ReadonlySet<unknown>, depth: number): string | undefined {
  if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol")
    return `it is a ${typeof value}`;
  if (above.has(value)) return "it contains itself";
  return isContainer(value) && depth >= deepest ? "it is nested too deeply" : undefined;
}

/** Dates and buffers say themselves what they are in JSON. */
function isContainer(value: unknown): value is object {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  return typeof (value as { toJSON?: unknown }).toJSON !== "function";
}

function levelOf(value: object): Level {
  return { value, keys: Array.isArray(value) ? undefined : Object.keys(value), next: 0 };
}

function keyOf({ keys, next }: Level): string {
  return keys ? (keys[next] as string) : String(next);
}

function pathOf(levels: readonly Level[]): string {
  const path = levels.map((level) => keyOf({ ...level, next: level.next - 1 })).join(".");
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}
