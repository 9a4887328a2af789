import { formatPath } from "../../../config/documents/document.ts";
import { compileForAnthropic, compileForOpenAi } from "./loose.ts";
import { compileForGemini } from "./gemini.ts";
import { compileForOpenAiStrict } from "./strict.ts";
import { Inexpressible, Work, type CompileNote } from "./work.ts";
import { guardSchema } from "../guard.ts";
import { tidy, type Schema } from "./tidy.ts";

/** The API that a schema is for. */
export type SchemaTarget = "openai-strict" | "openai" | "anthropic" | "gemini" | "json-schema";

/** A schema that the API accepts, with what was lost; or why there is none. */
export type CompiledSchema =
  | { ok: true; schema: Schema; notes: CompileNote[] }
  | { ok: false; path: string; reason: string };

const compilers: Record<SchemaTarget, (work: Work) => Schema> = {
  "openai-strict": compileForOpenAiStrict,
  openai: compileForOpenAi,
  anthropic: compileForAnthropic,
  gemini: compileForGemini,
  "json-schema": withObjectRoot,
};

/**
 * Rewrites a tool's schema to a form that a model's API accepts. Keeps the meaning where the API can express it; every
 * loss is a note with the path in the original schema. Returns `ok: false` for a schema that cannot be expressed, so
 * that one tool is set aside instead of the API rejecting the whole request. Arguments are always checked against the
 * original.
 */
export function compileSchema(schema: unknown, target: SchemaTarget): CompiledSchema {
  const verdict = guardSchema(schema);
  if (!verdict.ok) return verdict;
  const work = new Work(schema as Schema);
  try {
    return { ok: true, schema: compilers[target](work), notes: work.notes };
  } catch (error) {
    if (!(error instanceof Inexpressible)) throw error;
    return { ok: false, path: formatPath(error.path), reason: error.message };
  }
}

/** For consumers of plain JSON Schema: the original, with the root that MCP requires. */
function withObjectRoot({ root }: Work): Schema {
  const { properties } = tidy(root, false) as Schema;
  return { ...root, type: "object", ...(root["$ref"] === undefined ? { properties: properties ?? {} } : {}) };
}
