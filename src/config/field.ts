import * as z from "zod/mini";

/**
 * How the strings of a field are shown: `text` as written, `word`, `url` and `arguments` as far as their shape is
 * harmless, and of `names` only the keys. Strings of any other field are hidden. Numbers, switches and fixed words are
 * shown by themselves.
 */
export type Showing = "text" | "word" | "url" | "arguments" | "names";

/** Which fields are shown, and how. */
export const showings = z.registry<{ as: Showing }>();

/**
 * An optional field with the description and example that the reference and editors show. Its strings are hidden
 * unless `shown` declares that they are never secret.
 */
export function field<T extends z.core.$ZodType>(
  schema: T,
  description: string,
  example: unknown,
  shown?: Showing,
): z.ZodMiniOptional<T> {
  const optional = z.optional(schema);
  z.globalRegistry.add(optional, { description, examples: [example] });
  return shown === undefined ? optional : shownAs(optional, shown);
}

export function shownAs<T extends z.core.$ZodType>(schema: T, as: Showing): T {
  showings.add(schema, { as });
  return schema;
}
