import { PlugboardError } from "../../index.ts";
import { parseExact } from "../../lib/exact-json.ts";
import { isRecord } from "../../lib/record.ts";

/** The arguments of a call as a model wrote them: an object, or its JSON. Throws `arguments-invalid`. */
export function parseArguments(tool: string, given: unknown): Record<string, unknown> {
  if (given === undefined || given === null) return {};
  const value = typeof given === "string" ? parsed(tool, given) : given;
  if (isRecord(value)) return value;
  throw invalid(tool, "they are not a JSON object");
}

function parsed(tool: string, text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return parseExact(text);
  } catch (error) {
    throw invalid(
      tool,
      `they are not valid JSON (${error instanceof Error ? error.message : String(error)})`,
    );
  }
}

function invalid(tool: string, problem: string): PlugboardError {
  return new PlugboardError("arguments-invalid", `The arguments of ${tool} cannot be read: ${problem}.`, {
    tool,
  });
}
