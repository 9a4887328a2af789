import { PlugboardError, createValidator, isPlugboardError } from "../../index.ts";
import type { Mistake, ToolEntry } from "../../index.ts";
import { nearest } from "../../lib/suggest.ts";
import { isRecord } from "../../lib/record.ts";
import { callLine } from "./call-line.ts";
import { exampleValue } from "./example-values.ts";
import { propertiesOf, propertySchema } from "./schema-parts.ts";

type Arguments = Record<string, unknown>;

/** Adds a corrected command line to an error about arguments, if one can be found. */
export function withCorrection(error: unknown, tool: ToolEntry, args: Arguments): unknown {
  if (!isPlugboardError(error, "arguments-invalid")) return error;
  const corrected = correct(tool, args, mistakesIn(error.data));
  if (!corrected) return error;
  const { message, server, data } = error;
  const line = callLine(tool, corrected);
  return new PlugboardError("arguments-invalid", message, {
    server,
    tool: tool.id,
    data: { ...data, corrected: line },
    cause: error,
    hint: `Try: ${line}`,
  });
}

/** Fixes misspelt names, picks the closest allowed values, and fills in examples for missing or mistyped ones. */
function correct({ inputSchema }: ToolEntry, args: Arguments, mistakes: Mistake[]): Arguments | undefined {
  let fixed: Arguments = { ...args };
  for (const { path, expected, suggestion } of mistakes) {
    if (!/^[^.[\]]+$/.test(path)) return undefined;
    const { [path]: value, ...others } = fixed;
    if (expected === "no such property")
      fixed = suggestion === undefined ? others : { ...others, [suggestion]: value };
  }
  const validate = createValidator(inputSchema);
  for (const { path, suggestion } of validate(fixed)) {
    if (!/^[^.[\]]+$/.test(path)) return undefined;
    const misspelt = misspeltName(path, fixed, inputSchema);
    if (misspelt !== undefined) {
      const { [misspelt]: value, ...others } = fixed;
      fixed = { ...others, [path]: value };
      continue;
    }
    const schema = propertySchema(inputSchema, path, inputSchema);
    fixed = { ...fixed, [path]: suggestion ?? exampleValue(schema, inputSchema, path, 1) };
  }
  return validate(fixed).length === 0 ? fixed : undefined;
}

/** The argument that was probably meant by a missing one: no schema knows its name, and it is spelt nearly the same. */
function misspeltName(
  missing: string,
  args: Arguments,
  schema: ToolEntry["inputSchema"],
): string | undefined {
  if (Object.hasOwn(args, missing)) return undefined;
  const known = new Set(propertiesOf(schema, schema).map(([name]) => name));
  return nearest(
    missing,
    Object.keys(args).filter((name) => !known.has(name)),
  );
}

function mistakesIn(data: Record<string, unknown> | undefined): Mistake[] {
  const list = data?.["mistakes"];
  return Array.isArray(list) ? (list.filter(isRecord) as unknown as Mistake[]) : [];
}
