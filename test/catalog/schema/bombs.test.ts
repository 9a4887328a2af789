import { describe, expect, it } from "vitest";
import { createChecks } from "../../../src/catalog/schema/check/checks.ts";
import { Exhausted, Run, validationLimits } from "../../../src/catalog/schema/run.ts";
import { createValidator } from "../../../src/catalog/schema/validate.ts";

/** Validation is limited by steps, which unlike time are the same on every machine. */
function stepsOf(schema: unknown, value: unknown): number {
  const run = new Run(true, validationLimits.steps);
  try {
    createChecks(schema)(value, run);
  } catch (error) {
    if (!(error instanceof Exhausted)) throw error;
    return validationLimits.steps;
  }
  return validationLimits.steps - run.steps;
}

const costly = [{ path: "", message: "cannot be checked: the schema is too costly for this value" }];
const deep = [{ path: "", message: "is nested too deeply to check against this schema" }];

describe("M43 no schema and no value can hang or crash a validation", () => {
  it("matches ^(a+)+$ in linear time", () => {
    const schema = { pattern: "^(a+)+$" };
    expect(createValidator(schema)("a".repeat(5_000))).toEqual([]);
    expect(createValidator(schema)(`${"a".repeat(5_000)}!`)).toHaveLength(1);
    const [short, long] = [1_000, 4_000].map((length) => stepsOf(schema, `${"a".repeat(length)}!`)) as [
      number,
      number,
    ];
    expect(long).toBeLessThan(short * 5);
  });

  it.each([
    "^(a|a)*$",
    "^(.*)*x$",
    "(x+x+)+y",
    "^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}$",
    "^a*a*a*a*a*b$",
    "a*a*b",
  ])("never lets %s backtrack", (pattern) => {
    const validate = createValidator({ pattern });
    for (const text of ["a".repeat(3_000), "x".repeat(3_000), "a".repeat(1_000_000)])
      expect(validate(text).length).toBeLessThan(2);
  });

  it("treats a text that is too long for its pattern as matching", () => {
    expect(createValidator({ pattern: "^(a|b)*a(a|b){40}$" })("ab".repeat(50_000))).toEqual([]);
  });

  it("checks simple patterns on texts of a megabyte", () => {
    const validate = createValidator({ pattern: "^[\\s\\S]*x$" });
    expect(validate(`${"a".repeat(1_000_000)}x`)).toEqual([]);
    expect(validate("a".repeat(1_000_000))).toHaveLength(1);
  });

  it("pays only for the properties that a value has", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`p${index}`, { type: "string" }]),
    );
    expect(
      stepsOf({ type: "object", properties, additionalProperties: false }, { p5: "a", p6: "b" }),
    ).toBeLessThan(20);
    expect(createValidator({ properties, additionalProperties: false })({ q: 1 })).toHaveLength(1);
  });

  it("stops at schemas and values that are nested thousands of levels deep", () => {
    let schema: unknown = { type: "string" };
    let value: unknown = 1;
    for (let i = 0; i < 5_000; i++) {
      schema = { properties: { a: schema } };
      value = { a: value };
    }
    expect(createValidator(schema)(value)).toEqual(deep);
    expect(
      createValidator({ $ref: "#/$defs/n", $defs: { n: { properties: { a: { $ref: "#/$defs/n" } } } } })(
        value,
      ),
    ).toEqual(deep);
    expect(createValidator({ const: value })({ a: 1 })).toHaveLength(1);
    expect(createValidator({ uniqueItems: true })([value, value])).toEqual(deep);
    expect(createValidator({ enum: [{ a: 1 }] })(value)).toEqual(deep);
  });

  it("stops at references that only refer to themselves", () => {
    expect(createValidator({ $ref: "#" })({})).toEqual(deep);
    expect(createValidator({ allOf: [{ $ref: "#" }] })({})).toEqual(deep);
    expect(createValidator({ not: { $ref: "#" } })({})).toEqual(deep);
    expect(createValidator({ allOf: [{ $ref: "#" }], unevaluatedProperties: false })({})).toEqual(deep);
  });

  it.each(["allOf", "anyOf", "oneOf"])("stops when %s doubles at every level", (keyword) => {
    const $defs: Record<string, unknown> = {
      d0: keyword === "allOf" ? { type: "object" } : { type: "string" },
    };
    for (let i = 1; i <= 30; i++)
      $defs[`d${i}`] = { [keyword]: [{ $ref: `#/$defs/d${i - 1}` }, { $ref: `#/$defs/d${i - 1}` }] };
    expect(createValidator({ $defs, $ref: "#/$defs/d30" })({})).toEqual(costly);
  });

  it("stops when alternatives double at every level of a recursive value", () => {
    const node = {
      properties: { a: { oneOf: [{ $ref: "#" }, { $ref: "#" }] } },
      unevaluatedProperties: false,
    };
    let value: unknown = {};
    for (let i = 0; i < 40; i++) value = { a: value };
    expect(createValidator(node)(value)).toHaveLength(1);
  });

  it("finds repeated items among thousands of objects without comparing all pairs", () => {
    const items = Array.from({ length: 3_000 }, (_, index) => ({
      id: index,
      tags: ["a", "b"],
      nested: { x: index },
    }));
    expect(createValidator({ uniqueItems: true })(items)).toEqual([]);
    expect(stepsOf({ uniqueItems: true }, items)).toBeLessThan(3_000 * 12);
    expect(createValidator({ uniqueItems: true })([...items, items[7]])).toMatchObject([{ path: "[3000]" }]);
  });

  it("gives up on an array that is too long for its schema, and says so", () => {
    expect(createValidator({ items: { type: "integer" } })(Array.from({ length: 600_000 }, () => 1))).toEqual(
      costly,
    );
  });

  it("charges for listing the names of a large object, even if the first name decides", () => {
    const anyOf = Array.from({ length: 500 }, (_, index) => ({
      properties: { [`a${index}`]: true },
      additionalProperties: false,
    }));
    const value = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`p${index}`, 1]));
    expect(createValidator({ anyOf })(value)).toEqual(costly);
  });

  it("charges for counting the characters of long strings", () => {
    const allOf = Array.from({ length: 2_000 }, () => ({ minLength: 300_000 }));
    expect(createValidator({ allOf })("x".repeat(500_000))).toEqual(costly);
  });

  it("follows long chains of references, and stops at chains that are too long or go in circles", () => {
    const chain = (length: number, end: object) => ({
      $ref: "#/$defs/d0",
      $defs: Object.fromEntries(
        Array.from({ length }, (_, index) => [
          `d${index}`,
          index === length - 1 ? end : { $ref: `#/$defs/d${index + 1}` },
        ]),
      ),
    });
    for (const length of [3, 33, 100]) {
      expect(createValidator(chain(length, { type: "string" }))("x")).toEqual([]);
      expect(createValidator(chain(length, { type: "string" }))(1)).toMatchObject([{ expected: "string" }]);
      expect(createValidator(chain(length, { $ref: "#/$defs/d0" }))("x")).toEqual(deep);
      expect(createValidator(chain(length, { $ref: "#/$defs/gone" }))("x")).toHaveLength(1);
    }
  });

  it("groups thousands of alternatives by tag in linear time", () => {
    const branch = (tag: string) => ({
      properties: { kind: { enum: [tag, `${tag}!`] } },
      required: ["kind"],
    });
    const validate = createValidator({
      anyOf: Array.from({ length: 3_000 }, (_, index) => branch(`k${index}`)),
    });
    expect(validate({ kind: "k2999!" })).toEqual([]);
    expect(validate({ kind: "other" })).toHaveLength(1);
  });

  it("accepts a description of five megabytes", () => {
    expect(stepsOf({ description: "x".repeat(5_000_000), type: "object" }, {})).toBeLessThan(5);
  });

  it("treats __proto__ and constructor as ordinary names", () => {
    const schema = JSON.parse(`{
      "type": "object",
      "properties": { "__proto__": { "type": "string" }, "constructor": { "type": "number" }, "toString": { "type": "number" } },
      "required": ["__proto__"], "additionalProperties": false
    }`) as unknown;
    const validate = createValidator(schema);
    expect(validate(JSON.parse('{"__proto__":"a","constructor":1}'))).toEqual([]);
    expect(validate(JSON.parse('{"__proto__":{"polluted":true}}'))).toMatchObject([{ path: "__proto__" }]);
    expect(validate({})).toMatchObject([{ path: "__proto__", message: "is required" }]);
    expect(createValidator({ required: ["constructor", "toString"] })({})).toHaveLength(2);
    expect(createValidator({ additionalProperties: false })({ hasOwnProperty: 1 })).toHaveLength(1);
    expect(createValidator({ properties: {} })(JSON.parse('{"__proto__":{"polluted":1}}'))).toEqual([]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});
