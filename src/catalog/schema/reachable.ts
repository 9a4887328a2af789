import { isRecord } from "../../lib/record.ts";
import { Inexpressible } from "./compile/work.ts";
import { setMember } from "./compile/merge-schemas.ts";
import { subschemasOf } from "./subschemas.ts";
import type { Schema } from "./compile/tidy.ts";

/** The definitions that the root uses, directly or indirectly. */
export function reachable(
  root: Schema,
  byName: ReadonlyMap<string, Schema | Inexpressible | undefined>,
): Schema {
  const found: Schema = {};
  const open: unknown[] = [root];
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    if (!isRecord(schema)) continue;
    const name = typeof schema["$ref"] === "string" ? schema["$ref"].slice("#/$defs/".length) : "";
    if (name !== "" && !Object.hasOwn(found, name)) {
      const definition = byName.get(name);
      if (!isRecord(definition) || definition instanceof Inexpressible)
        throw definition ?? new Inexpressible(["$defs", name], "a definition cannot be expressed");
      setMember(found, name, definition);
      open.push(definition);
    }
    for (const inner of subschemasOf(schema)) open.push(inner.schema);
  }
  return found;
}
