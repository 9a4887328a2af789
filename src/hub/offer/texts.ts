import { estimateTokens } from "../../calls/output/token-estimate.ts";
import type { CallResult } from "../../calls/call-tool.ts";
import type { ToolEntry } from "../../catalog/tool-entry.ts";
import type { PlugboardError } from "../../errors.ts";
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
export function failureText({ message, code, data, hint }: PlugboardError): string {
  const near = Array.isArray(data?.["near"]) ? data["near"].map(String).slice(0, 5) : [];
  if (near.length > 0) return `${message} Did you mean ${near.join(" or ")}?`;
  if (code === "tool-unknown" && hint !== "") return `${message} Find it with ${metaNames.search}.`;
  return code === "approval-denied" ? `${message} ${hint}` : message;
}
