import type * as z from "zod/mini";
import { describe, expect, it } from "vitest";
import { configSchema } from "../../src/config/schema.ts";
import { showings } from "../../src/config/server-schema.ts";
import { looksSecret } from "../../src/lib/secret-words.ts";

interface Definition {
  type: string;
  innerType?: z.core.$ZodType;
  in?: z.core.$ZodType;
  shape?: Record<string, z.core.$ZodType>;
  valueType?: z.core.$ZodType;
  element?: z.core.$ZodType;
  options?: z.core.$ZodType[];
}

/** Every declaration in the schema, by the path of its field. */
function declared(schema: z.core.$ZodType, path: string, found = new Map<string, string>()) {
  const as = showings.get(schema)?.as;
  if (as !== undefined) found.set(path, as);
  const {
    innerType,
    in: input,
    shape = {},
    valueType,
    element,
    options = [],
  } = schema._zod.def as unknown as Definition;
  for (const inner of [innerType, input, element, ...options]) if (inner) declared(inner, path, found);
  if (valueType) declared(valueType, `${path}.*`, found);
  for (const [name, field] of Object.entries(shape)) declared(field, path ? `${path}.${name}` : name, found);
  return found;
}

describe("which fields are shown", () => {
  const all = declared(configSchema, "");
  const bare = (path: string) => path.replace(/^(mcpS|s)ervers\.\*\./, "");
  const fields = (as: string) =>
    [...new Set([...all].filter(([, how]) => how === as).map(([path]) => bare(path)))].sort();

  it("shows only these as they are written: whoever adds one has to know that it never holds a secret", () => {
    expect(fields("text")).toEqual([
      "alwaysLoad",
      "approval.rules.tools",
      "approval.rules.when",
      "approval.tools",
      "bundles.*.description",
      "bundles.*.serverId",
      "bundles.*.servers",
      "bundles.*.tools.allow",
      "bundles.*.tools.deny",
      "description",
      "oauth.clientId",
      "oauth.identityProvider.clientId",
      "oauth.profile",
      "oauth.scopes",
      "output.tools",
      "profiles",
      "toolSearch",
      "tools.allow",
      "tools.annotations",
      "tools.deny",
      "tools.describe",
      "tools.hideArguments",
      "tools.rename",
    ]);
  });

  it("shows nothing of a field whose name stands for a secret but words of a harmless shape", () => {
    const secret = [...all].filter(([path]) => looksSecret(path.split(".").at(-1) ?? ""));
    const names = new Set(secret.map(([path, as]) => `${bare(path)} ${as}`));
    expect([...names].sort()).toEqual(["auth word", "bearerTokenEnv word", "network.key word"]);
  });
});
