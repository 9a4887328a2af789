import { parseExact } from "../lib/exact-json.ts";
import { PlugboardError } from "../errors.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import { guardSchema } from "../catalog/schema/guard.ts";
import { repairArguments } from "../catalog/schema/repair.ts";
import type { Mistake } from "../catalog/schema/validate.ts";
import { argumentRules, filledArguments } from "../catalog/argument-rules.ts";
import type { ArgumentRules } from "../catalog/argument-rules.ts";
import { isRecord } from "../lib/record.ts";
import { callSchema } from "../catalog/tool-entry.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { Validators } from "../catalog/validators.ts";
import type { CallResult } from "./call-tool.ts";

/**
 * The arguments as they are sent: with the defaults from config, checked against the tool's schema. Unambiguous mistakes
 * that models make, such as `"[1,2]"` instead of an array, are repaired and mentioned in the notes. Refuses values for
 * arguments that config hides.
 */
export function fitArguments(
  tool: ToolEntry,
  args: Record<string, unknown>,
  config: ServerConfig,
  validators: Validators,
): { fitted: Record<string, unknown>; notes: string[] } {
  const schema = callSchema(tool.raw);
  const rules = argumentRules(tool.name, schema, config);
  // Parsed first: a rule about an argument also holds for one in a text.
  const { given, notes } = parsedArguments(args);
  if (!isRecord(given)) throw unfit(tool, validators.check({ type: "object" }, given));
  const hidden = rules && Object.keys(given).find((key) => rules.hidden.has(key));
  if (hidden !== undefined)
    throw unfit(
      tool,
      [{ path: hidden, message: "the configuration hides this argument" }],
      `Leave ${hidden} out.`,
    );
  const filled = rules ? filledArguments(given, rules) : given;
  const mistakes = validators.check(schema, filled);
  if (mistakes.length === 0) return { fitted: filled, notes };
  const repaired = repairArguments(schema, filled);
  if (repaired.notes.length > 0 && isRecord(repaired.args)) {
    // What was left out there has its default again.
    const fitted = rules ? filledArguments(repaired.args, rules) : repaired.args;
    if (validators.check(schema, fitted).length === 0)
      return { fitted, notes: [...notes, ...repaired.notes] };
  }
  throw rules ? unfitByRules(tool, mistakes, rules) : unfit(tool, mistakes);
}

/** Some models write all arguments as one text. */
function parsedArguments(args: unknown): { given: unknown; notes: string[] } {
  if (typeof args !== "string") return { given: args, notes: [] };
  try {
    const given = parseExact(args);
    return {
      given,
      notes: ["The arguments were a string that contains an object, so the string was parsed."],
    };
  } catch {
    return { given: args, notes: [] };
  }
}

/** Whoever calls neither knows nor can mend what config says about a hidden argument. */
function unfitByRules(
  tool: ToolEntry,
  mistakes: readonly Mistake[],
  { hidden }: ArgumentRules,
): PlugboardError {
  const isAbout = (path: string) =>
    hidden
      .values()
      .some((name) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`));
  const shown = mistakes.filter(({ path }) => !isAbout(path));
  if (shown.length > 0) return unfit(tool, shown);
  const { server, id, name } = tool;
  return new PlugboardError(
    "config-invalid",
    `The configuration of "${server}" gives a hidden argument of ${name} a value that does not fit.`,
    {
      server,
      tool: id,
      hint: "Correct `tools.defaults`; `plugboard doctor` shows what is wrong.",
    },
  );
}

function unfit(tool: ToolEntry, mistakes: readonly Mistake[], hint?: string): PlugboardError {
  return new PlugboardError(
    "arguments-invalid",
    `The arguments do not fit ${tool.name}: ${describeMistakes(mistakes)}`,
    { server: tool.server, tool: tool.id, data: { mistakes }, ...(hint !== undefined && { hint }) },
  );
}

function describeMistakes(mistakes: readonly Mistake[]): string {
  const shown = mistakes
    .slice(0, 5)
    .map(
      ({ path, message, suggestion }) =>
        `${path === "" ? "" : `${path}: `}${message}${suggestion && !message.includes(JSON.stringify(suggestion)) ? ` (${suggestion})` : ""}`,
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
