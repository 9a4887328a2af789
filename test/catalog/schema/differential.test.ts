import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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
          for (const value of values)
            expect(ours(value).length === 0, `${JSON.stringify(schema)} on ${JSON.stringify(value)}`).toBe(
              theirs(value),
            );
          if (typeof schema === "object") ajv.removeSchema(schema as object);
        },
      ),
      { numRuns: 500 },
    );
  });
});

/** Set JSON_SCHEMA_TEST_SUITE to a checkout of json-schema-org/JSON-Schema-Test-Suite to run it whole. */
const suite = process.env["JSON_SCHEMA_TEST_SUITE"] ?? "";

/** What needs the network, a custom dialect, or dynamic scope across embedded resources. */
const beyond =
  /^(refRemote|vocabulary|dynamicRef|recursiveRef)\.json|metaschema|\$dynamicRef|\$recursiveRef|remote ref, containing|sibling \$id|\$id inside an enum/;

describe.skipIf(!existsSync(join(suite, "tests")))(
  "M43 our validator passes the JSON Schema test suite",
  () => {
    it.each(["draft6", "draft7", "draft2019-09", "draft2020-12"])("of %s", (draft) => {
      const folder = join(suite, "tests", draft);
      const failures: string[] = [];
      let passed = 0;
      for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
        const groups = JSON.parse(readFileSync(join(folder, file), "utf8")) as Group[];
        for (const { description, schema, tests } of groups) {
          const isOld = /draft[67]/.test(draft) && typeof schema === "object";
          const dialect = isOld ? { ...schema, $schema: `draft-0${draft.slice(5)}` } : schema;
          const validate = createValidator(dialect);
          for (const test of tests) {
            const name = `${file}: ${description}: ${test.description}`;
            if ((validate(test.data).length === 0) === test.valid) passed++;
            else if (!beyond.test(name)) failures.push(name);
          }
        }
      }
      expect(failures).toEqual([]);
      expect(passed).toBeGreaterThan(500);
    });
  },
);

interface Group {
  description: string;
  schema: object | boolean;
  tests: { description: string; data: unknown; valid: boolean }[];
}
