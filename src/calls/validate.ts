import { PlugboardError } from "../errors.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import { guardSchema } from "../catalog/schema/guard.ts";
import { repairArguments } from "../catalog/schema/repair.ts";
import type { Mistake } from "../catalog/schema/validate.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { Validators } from "../catalog/validators.ts";
import type { CallResult } from "./call-tool.ts";

/**
 * Checks arguments against the tool's schema. Unambiguous mistakes that models make, such as `"[1,2]"` instead of an
 * array, are repaired and mentioned in the notes.
 */
export function fitArguments(
  tool: ToolEntry,
  args: Record<string, unknown>,
  validators: Validators,
): { fitted: Record<string, unknown>; notes: string[] } {
  const mistakes = validators.check(tool.inputSchema, args);
  if (mistakes.length === 0) return { fitted: args, notes: [] };
  const repaired = repairArguments(tool.inputSchema, args);
  if (repaired.notes.length > 0 && validators.check(tool.inputSchema, repaired.args).length === 0) {
    return { fitted: repaired.args as Record<string, unknown>, notes: repaired.notes };
  }
  throw new PlugboardError(
    "arguments-invalid",
    `The arguments do not fit ${tool.name}: ${describeMistakes(mistakes)}`,
    {
      server: tool.server,
      tool: tool.id,
      data: { mistakes },
    },
  );
}

function describeMistakes(mistakes: readonly Mistake[]): string {
  const shown = mistakes
    .slice(0, 5)
    .map(
      ({ path, message, suggestion }) =>
        `${path === "" ? "" : `${path}: `}${message}${suggestion ? ` (${suggestion})` : ""}`,
    );
  const more = mistakes.length > 5 ? `; and ${mistakes.length - 5} more` : "";
  return `${shown.join("; ")}${more}.`;
}

/** Adds a note to a result that does not match the output schema, or throws if `output.check` is `error`. */
export function checkOutput(
  tool: ToolEntry,
  result: CallResult,
  config: ServerConfig,
  validators: Validators,
): CallResult {
  const { outputSchema, server, name, id } = tool;
  const mode = config.output?.check ?? "warn";
  if (!outputSchema || result.isError || mode === "off" || !guardSchema(outputSchema).ok)
    return withContent(result);
  const mistakes =
    result.structuredContent === undefined
      ? [{ path: "", message: "there is no structured content" }]
      : validators.check(outputSchema, result.structuredContent);
  if (mistakes.length === 0) return withContent(result);
  if (mode === "warn")
    return withContent({ ...result, _meta: { ...result._meta, "plugboard/output-mistakes": mistakes } });
  throw new PlugboardError(
    "output-invalid",
    `The result of ${name} from "${server}" does not match its output schema: ${describeMistakes(mistakes)}`,
    {
      server,
      tool: id,
      data: { mistakes },
      hint: 'Report it to the server\'s author; without `output.check: "error"` such results only get a note.',
    },
  );
}

/** Some servers omit `content` if they send structured content; callers can rely on it being a list. */
function withContent(result: CallResult): CallResult {
  return Array.isArray(result.content) ? result : { ...result, content: [] };
}
