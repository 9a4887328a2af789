import { isRecord } from "../lib/record.ts";

/** Fills what a person left out with the defaults that the form declares. */
export function withDefaults(
  schema: Record<string, unknown>,
  content: Record<string, unknown>,
): Record<string, unknown> {
  const { properties } = schema;
  if (!isRecord(properties)) return content;
  const filled: Record<string, unknown> = { ...content };
  for (const [name, field] of Object.entries(properties)) {
    if (filled[name] === undefined && isRecord(field) && field["default"] !== undefined)
      filled[name] = field["default"];
  }
  return filled;
}
