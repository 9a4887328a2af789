import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createValidator } from "../../../src/catalog/schema/validate.ts";
import { anySchema, anyValue } from "./arbitraries.ts";

const options = { strict: false, validateFormats: false, logger: false } as const;

describe("M43 our validator agrees with ajv", () => {
  it.each([
    ["draft-07", () => new Ajv(options)],
    ["2020-12", () => new Ajv2020(options)],
  ] as const)("on schemas and values of %s", (draft, create) => {
    const ajv = create();
    fc.assert(
      fc.property(
        anySchema({ draft }),
        fc.array(anyValue, { minLength: 1, maxLength: 12 }),
        (schema, values) => {
          const theirs = ajv.compile(schema as object);
          const ours = createValidator(schema);
          // As they come over the wire: the two differ about objects without a prototype.
          for (const value of JSON.parse(JSON.stringify(values)) as unknown[]) {
            const mistakes = ours(value);
            expect(mistakes.length === 0, `${JSON.stringify(schema)} on ${JSON.stringify(value)}`).toBe(
              theirs(value),
            );
            for (const { message } of mistakes) expect(message).not.toContain("saying why");
          }
          if (typeof schema === "object") ajv.removeSchema(schema as object);
        },
      ),
      { numRuns: 500 },
    );
  });
});
