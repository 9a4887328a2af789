import * as z from "zod/mini";
import { configSchema } from "./schema.ts";

/** The schema that editors use, from the same source that checks files. */
export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, {
    io: "input",
    unrepresentable: "any",
    reused: "inline",
  });
  return { $schema, title: "Plugboard configuration", ...schema };
}
