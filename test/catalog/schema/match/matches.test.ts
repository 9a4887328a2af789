import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createValidator } from "../../../../src/catalog/schema/validate.ts";
import { anySchema, anyValue } from "../arbitraries.ts";

const inner = anySchema({ draft: "2020-12" });
const tags = ["x", "xy", "long word"] as const;

/** Too many properties to check in order, so that it matters how many of them a value has. */
const wideNames = Array.from({ length: 120 }, (_, index) => `p${index}`);
const wideSchema = fc
  .record({
    kinds: fc.array(inner, { minLength: 1, maxLength: 4 }),
    required: fc.uniqueArray(fc.constantFrom(...wideNames.slice(0, 3), "other"), { maxLength: 2 }),
    additionalProperties: fc.constantFrom<unknown>(true, false, { type: "string" }),
  })
  .map(({ kinds, ...rest }) => ({
    type: "object",
    properties: Object.fromEntries(wideNames.map((name, index) => [name, kinds[index % kinds.length]])),
    ...rest,
  }));
const wideValue = fc
  .record({
    filler: anyValue,
    share: fc.constantFrom(0, 3, 40, 119, 120),
    stranger: fc.boolean(),
    first: anyValue,
  })
  .map(({ filler, share, stranger, first }) => ({
    ...Object.fromEntries(wideNames.slice(0, share).map((name) => [name, filler])),
    ...(share > 0 ? { p0: first } : {}),
    ...(stranger ? { other: "x" } : {}),
  }));

const taggedBranch = fc
  .record({
    tag: fc.oneof(
      fc.constantFrom(...tags).map((tag) => ({ const: tag })),
      fc.uniqueArray(fc.constantFrom(...tags), { minLength: 1 }).map((allowed) => ({ enum: allowed })),
      fc.constant({ type: "string" }),
    ),
    required: fc.constantFrom(["kind"], ["kind", "a"], ["a"], []),
    a: inner,
    additionalProperties: fc.boolean(),
  })
  .map(({ tag, a, ...rest }) => ({ type: "object", properties: { kind: tag, a }, ...rest }));
const taggedSchema = fc
  .record({
    keyword: fc.constantFrom("anyOf", "oneOf"),
    branches: fc.array(fc.oneof({ arbitrary: taggedBranch, weight: 4 }, inner), {
      minLength: 2,
      maxLength: 5,
    }),
  })
  .map(({ keyword, branches }) => ({ [keyword]: branches }));
const taggedValue = fc.oneof(
  fc.record({ kind: fc.oneof(fc.constantFrom(...tags), anyValue), a: anyValue }, { requiredKeys: [] }),
  anyValue,
);

describe("M43 our validator agrees with ajv on every code path", () => {
  it.each([
    ["objects of more than a hundred properties", wideSchema, wideValue],
    ["alternatives that a tag tells apart", taggedSchema, taggedValue],
  ] as const)("on %s", (_, schemas, values) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
    fc.assert(
      fc.property(
        schemas as fc.Arbitrary<object>,
        fc.array(values as fc.Arbitrary<unknown>, { minLength: 2, maxLength: 12 }),
        (schema, candidates) => {
          const theirs = ajv.compile(schema);
          const ours = createValidator(schema);
          for (const value of candidates) {
            const mistakes = ours(value);
            expect(mistakes.length === 0, `${JSON.stringify(schema)} on ${JSON.stringify(value)}`).toBe(
              theirs(value),
            );
            for (const { message } of mistakes) expect(message).not.toContain("saying why");
          }
          ajv.removeSchema(schema);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe("M43 a tag rules out only the alternatives that do not allow it", () => {
  const branch = (kind: object, a: string) => ({
    type: "object",
    properties: { kind, a: { type: a } },
    required: ["kind"],
  });
  const branches = [
    { type: "null" },
    branch({ const: "x" }, "string"),
    { type: "object", required: ["free"] },
    branch({ enum: ["x", "y"] }, "integer"),
    branch({ type: "integer" }, "integer"),
  ];
  const matching: [value: unknown, branches: number][] = [
    [null, 1],
    [{ kind: "x", a: "text" }, 1],
    [{ kind: "x", a: 1 }, 1],
    [{ kind: "x" }, 2],
    [{ kind: "y", a: "text" }, 0],
    [{ kind: "y", a: "text", free: 1 }, 1],
    [{ kind: "y", free: 1 }, 2],
    [{ kind: "z", free: 1 }, 1],
    [{ free: 1 }, 1],
    [{ kind: 5 }, 1],
    [{ kind: ["x"] }, 0],
    [{}, 0],
    [[], 0],
    ["x", 0],
  ];

  it.each(matching)("%j matches %i alternatives", (value, count) => {
    expect(createValidator({ anyOf: branches })(value).length === 0).toBe(count > 0);
    expect(createValidator({ oneOf: branches })(value).length === 0).toBe(count === 1);
  });

  it("reads tags through references, and ignores tags beside them if the draft does", () => {
    const $defs = { text: { type: "string" }, x: branch({ $ref: "#/$defs/text", const: "x" }, "string") };
    const schema = { anyOf: [{ $ref: "#/$defs/x" }, branch({ const: "y" }, "string")], $defs };
    expect(createValidator(schema)({ kind: "z" })).toHaveLength(1);
    expect(createValidator(schema)({ kind: "x" })).toEqual([]);
    const $schema = "http://json-schema.org/draft-07/schema#";
    expect(createValidator({ $schema, ...schema })({ kind: "z" })).toEqual([]);
  });
});

describe("M43 only a value's own members count", () => {
  const wide = Object.fromEntries(wideNames.map((name) => [name, { type: "integer" }]));
  const full = Object.fromEntries(wideNames.map((name) => [name, 1]));

  it("checks required members in objects of every size and order", () => {
    for (const properties of [{ a: { type: "integer" } }, wide]) {
      const [first = ""] = Object.keys(properties);
      const validate = createValidator({ properties, required: [first, "more"], additionalProperties: true });
      const valid = { ...full, [first]: 1, more: 1 };
      const reversed = Object.fromEntries(Object.entries(valid).toReversed());
      const { more: _, ...lacking } = valid;
      for (let i = 0; i < 3; i++) {
        expect(validate(valid)).toEqual([]);
        expect(validate(reversed)).toEqual([]);
        expect(validate(lacking)).toMatchObject([{ path: "more", message: "is required" }]);
      }
    }
  });

  it("does not treat inherited properties as members", () => {
    class Sized {
      get p0(): number {
        return 1;
      }
    }
    const { p0: _, ...others } = full;
    const properties = { ...wide, constructor: { type: "string" }, toString: { type: "string" } };
    const validate = createValidator({ properties: wide, required: ["p0"] });
    for (let i = 0; i < 3; i++) {
      expect(createValidator({ properties, additionalProperties: false })(full)).toEqual([]);
      expect(validate(full)).toEqual([]);
      expect(validate(Object.assign(new Sized(), others))).toMatchObject([{ path: "p0" }]);
    }
    expect(createValidator({ properties: { p0: true }, required: ["p0"] })(new Sized())).toHaveLength(1);
  });

  it("treats a member with the value undefined as present", () => {
    for (const properties of [{ p0: { type: "integer" } }, wide]) {
      const validate = createValidator({ properties });
      for (let i = 0; i < 3; i++) {
        validate(full);
        expect(validate({ ...full, p0: undefined })).toMatchObject([{ path: "p0", expected: "integer" }]);
      }
    }
  });
});
