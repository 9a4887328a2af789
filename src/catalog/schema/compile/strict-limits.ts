import { isRecord } from "../../../lib/record.ts";
import { Inexpressible } from "./work.ts";
import { propertiesOf } from "./merge-schemas.ts";
import { subschemasOf } from "../subschemas.ts";
import type { Schema } from "./tidy.ts";

/** The limits of strict mode for a whole schema. */
export const strictLimits = {
  properties: 5_000,
  levels: 10,
  enumValues: 1_000,
  characters: 120_000,
} as const;

export function refuseLargeStrict(root: Schema): void {
  const tally = { properties: 0, enumValues: 0, characters: 0 };
  const open: { schema: unknown; level: number }[] = [{ schema: root, level: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { schema } = next;
    if (!isRecord(schema)) continue;
    const names = Object.keys(propertiesOf(schema));
    const values = Array.isArray(schema["enum"])
      ? schema["enum"]
      : "const" in schema
        ? [schema["const"]]
        : [];
    const isObject = [schema["type"]].flat().includes("object");
    const level = next.level + (isObject ? 1 : 0);
    tally.properties += names.length;
    tally.enumValues += values.length;
    const definitions = isRecord(schema["$defs"]) ? Object.keys(schema["$defs"]) : [];
    for (const text of [...names, ...values, ...definitions])
      tally.characters += typeof text === "string" ? text.length : 0;
    if (level > strictLimits.levels)
      throw new Inexpressible(
        [],
        `strict mode allows ${strictLimits.levels} levels of objects, but it has more`,
      );
    for (const inner of subschemasOf(schema))
      open.push({ schema: inner.schema, level: inner.keyword === "$defs" ? 0 : level });
  }
  for (const [what, words] of [
    ["properties", "properties"],
    ["enumValues", "enum values"],
    ["characters", "characters in names and values"],
  ] as const)
    if (tally[what] > strictLimits[what])
      throw new Inexpressible(
        [],
        `strict mode allows ${strictLimits[what]} ${words}, but it has ${tally[what]}`,
      );
}
