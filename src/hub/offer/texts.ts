import { estimateTokens } from "../../calls/output/token-estimate.ts";
import type { CallResult } from "../../calls/call-tool.ts";
import type { ToolEntry } from "../../catalog/tool-entry.ts";
import type { PlugboardError } from "../../errors.ts";
import { modelAdvice, modelMessage } from "../../lib/model-advice.ts";
import { metaNames } from "./meta-definitions.ts";
import type { MetaTool } from "./meta-definitions.ts";
import { stringifyExact } from "../../lib/exact-json.ts";

export function textResult(text: string, isError = false): CallResult {
  return { content: [{ type: "text", text }], ...(isError && { isError }) };
}

/** A call of one of the three that cannot be understood: what is wrong, and how it is called. */
export function mistake(name: string, problem: string, definitions: readonly MetaTool[]): CallResult {
  const schema = definitions.find((tool) => tool.name === name)?.inputSchema;
  return textResult(
    `The arguments do not fit ${name}: ${problem}\nIts inputSchema: ${JSON.stringify(schema)}`,
    true,
  );
}

const mostSchemaTokens = 4_000;

/** The schema of a tool, unless it is so long that it has to be asked for. */
export function schemaText(name: string, { inputSchema }: ToolEntry): string {
  const schema = stringifyExact(inputSchema);
  return estimateTokens(schema) > mostSchemaTokens
    ? `Its inputSchema is long: get it with ${metaNames.describe}.`
    : `The inputSchema of ${name}: ${schema}`;
}

/** An error in words for a model: what is wrong, and which names are similar. */
export function failureText(error: PlugboardError): string {
  if (error.code !== "tool-unknown" || modelAdvice(error) !== "" || error.hint === "")
    return modelMessage(error);
  return `${error.message} Find it with ${metaNames.search}.`;
}
