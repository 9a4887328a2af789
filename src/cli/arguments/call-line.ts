import type { ToolEntry } from "../../index.ts";
import { joinArgv } from "../../lib/argv.ts";
import { argumentValue } from "./value.ts";
import { propertySchema } from "./schema-parts.ts";

export interface LineParts {
  /** Options of the command, such as `--config`. */
  options?: readonly string[];
  /** What to write in place of a value. */
  written?: ReadonlyMap<string, string>;
}

/** A command line that calls the tool with these arguments, ready to paste into a shell. */
export function callLine(
  tool: ToolEntry,
  args: Record<string, unknown>,
  { options = [], written = new Map() }: LineParts = {},
): string {
  const names = Object.keys(args);
  const words = names.every((name) => /^[\w-][\w.-]*$/.test(name) && name !== "__proto__")
    ? names.map((name) => {
        const text = written.get(name);
        return text === undefined ? argumentWord(name, args[name], tool) : `${name}=${text}`;
      })
    : [JSON.stringify({ ...args, ...Object.fromEntries(written) })];
  return joinArgv(["plugboard", "call", ...options, toolWord(tool), ...words]);
}

/** The shortest name that still finds the tool after other servers are added or removed. */
export function toolWord({ id, server, name }: Pick<ToolEntry, "id" | "server" | "name">): string {
  return /^[\w-]+$/.test(server) && /^[\w-][\w./-]*$/.test(name) ? `${server}.${name}` : id;
}

/** `key=value` if that reads back as the same value, otherwise `key:=json`. */
function argumentWord(name: string, value: unknown, { inputSchema }: ToolEntry): string {
  const text = plainText(value);
  const schema = propertySchema(inputSchema, name, inputSchema);
  const readBack = text === undefined ? undefined : argumentValue(text, schema, inputSchema);
  const isSame = text !== undefined && JSON.stringify(readBack) === JSON.stringify(value);
  return isSame && !text.startsWith("@") ? `${name}=${text}` : `${name}:=${JSON.stringify(value)}`;
}

function plainText(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.every(isScalar) ? value.join(",") : undefined;
  return isScalar(value) ? String(value) : undefined;
}

function isScalar(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
