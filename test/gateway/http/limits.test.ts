import { expect, it } from "vitest";
import { defaultLimits } from "../../../src/gateway/http/limits.ts";
import { configJsonSchema } from "../../../src/config.ts";

interface Schema {
  properties?: Record<string, Schema>;
  examples?: unknown[];
  default?: unknown;
  $ref?: string;
}

it("M80 every limit can be configured, and the reference shows its default", () => {
  const limits = (configJsonSchema() as Schema).properties?.["gateway"]?.properties?.["limits"]?.properties;
  const shown = Object.entries(limits ?? {}).map(([name, { examples }]) => [name, examples?.[0]]);
  expect(Object.fromEntries(shown)).toEqual(defaultLimits);
});
