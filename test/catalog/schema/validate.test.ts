import { describe, expect, it } from "vitest";
import { createValidator } from "../../../src/catalog/schema/validate.ts";

type Row = [schema: unknown, valid: unknown[], invalid: unknown[]];

const rows: Record<string, Row[]> = {
  type: [
    [{ type: "string" }, ["", "a"], [1, null, [], {}, true]],
    [{ type: "integer" }, [1, 1.0, -0, 1e3], [1.5, "1", null]],
    [{ type: ["string", "null"] }, ["a", null], [1, []]],
    [{ type: "string", nullable: true }, ["a", null], [1]],
    [{ type: "object" }, [{}, { a: 1 }], [[], null]],
    [{ type: "whatever" }, [1, "a", null], []],
  ],
  "enum and const": [
    [{ enum: ["a", 1, null, { b: [1] }] }, ["a", 1, 1.0, null, { b: [1] }], ["b", 2, { b: [2] }, [1]]],
    [{ const: { a: 1, b: 2 } }, [{ b: 2, a: 1 }], [{ a: 1 }, null]],
    [{ const: false }, [false], [0, null, ""]],
  ],
  numbers: [
    [{ minimum: 1, maximum: 3 }, [1, 3, "x"], [0, 4]],
    [{ exclusiveMinimum: 1, exclusiveMaximum: 3 }, [2], [1, 3]],
    [{ minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: true }, [2], [1, 3]],
    [{ minimum: 1, exclusiveMinimum: false }, [1], [0]],
    [{ multipleOf: 0.1 }, [0.3, 4.4, 0], [0.35]],
    [{ multipleOf: 3 }, [9, -6], [10]],
  ],
  strings: [
    [{ minLength: 2, maxLength: 3 }, ["ab", "abc", "😀😀", "😀😀😀", 5], ["a", "abcd", "😀", "😀😀😀😀"]],
    [{ pattern: "^a+$" }, ["aaa", 1], ["b", "ab"]],
    [{ pattern: "b" }, ["abc"], ["ac"]],
    [{ pattern: "^(foo|bar)-\\d+$" }, ["foo-1"], ["baz-1"]],
    [{ pattern: "^\\p{Lu}" }, ["Éa"], ["éa"]],
    [{ pattern: "^\\S(|(.|\\n)*\\S)$" }, ["a", "a b"], [" a"]],
    [{ pattern: "^.{0,5000}$" }, ["x".repeat(5000)], ["x".repeat(5001)]],
    [{ format: "email" }, ["not an address"], []],
  ],
  "patterns that cannot be checked": [
    [{ pattern: "^(?=.*\\d)(?=.*[a-z]).{4,}$" }, ["a1b2", "zz"], []],
    [{ pattern: "(a)\\1" }, ["b"], []],
    [{ pattern: "(((" }, ["b"], []],
    [{ patternProperties: { "(?!x)": { type: "string" } } }, [{ a: "b" }], [{ a: 1 }]],
  ],
  arrays: [
    [{ items: { type: "number" } }, [[], [1]], [["a"], [1, "a"]]],
    [{ prefixItems: [{ type: "number" }], items: { type: "string" } }, [[], [1, "a"]], [["a"], [1, 2]]],
    [{ prefixItems: [{ type: "number" }], items: false }, [[1]], [[1, 2]]],
    [{ items: [{ type: "number" }], additionalItems: false }, [[1], []], [[1, 2]]],
    [{ items: [{ type: "number" }] }, [[1, "x"]], [["x"]]],
    [{ contains: { const: 1 } }, [[1], [0, 1]], [[], [0]]],
    [{ contains: { const: 1 }, minContains: 2, maxContains: 3 }, [[1, 1]], [[1], [1, 1, 1, 1]]],
    [{ contains: { const: 1 }, minContains: 0 }, [[]], []],
    [{ minItems: 1, maxItems: 2 }, [[1]], [[], [1, 2, 3]]],
    [
      { uniqueItems: true },
      [[1, "1", true, null, { a: 1 }]],
      [
        [1, 1.0],
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      ],
    ],
  ],
  objects: [
    [{ properties: { a: { type: "string" } }, required: ["a"] }, [{ a: "x", b: 1 }, 5], [{}, { a: 1 }]],
    [{ properties: { a: true }, additionalProperties: false }, [{ a: 1 }], [{ b: 1 }]],
    [{ properties: { a: false } }, [{}], [{ a: 1 }]],
    [
      { patternProperties: { "^x-": { type: "number" } }, additionalProperties: { type: "string" } },
      [{ "x-a": 1, b: "s" }],
      [{ "x-a": "s" }, { b: 1 }],
    ],
    [{ propertyNames: { maxLength: 2 } }, [{ ab: 1 }], [{ abc: 1 }]],
    [{ minProperties: 1, maxProperties: 2 }, [{ a: 1 }], [{}, { a: 1, b: 1, c: 1 }]],
    [{ dependentRequired: { a: ["b"] } }, [{ a: 1, b: 1 }, {}], [{ a: 1 }]],
    [{ dependencies: { a: ["b"], c: { required: ["d"] } } }, [{}, { c: 1, d: 1 }], [{ a: 1 }, { c: 1 }]],
    [{ dependentSchemas: { a: { properties: { b: { type: "string" } } } } }, [{ b: 1 }], [{ a: 1, b: 1 }]],
  ],
  combinations: [
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
    [{ anyOf: [{ type: "string" }, { minimum: 5 }] }, ["a", 5], [4]],
    [{ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3], [6, 5]],
    [{ not: { type: "string" } }, [1], ["a"]],
    [
      JSON.parse(
        '{"if":{"properties":{"k":{"const":1}}},"then":{"required":["a"]},"else":{"required":["b"]}}',
      ),
      [
        { k: 1, a: 1 },
        { k: 2, b: 1 },
      ],
      [{ k: 1 }, { k: 2 }],
    ],
  ],
  references: [
    [{ $ref: "#/$defs/a", $defs: { a: { type: "string" } } }, ["x"], [1]],
    [{ $ref: "#a", $defs: { b: { $anchor: "a", type: "string" } } }, ["x"], [1]],
    [{ $ref: "item", $defs: { b: { $id: "item", type: "string" } } }, ["x"], [1]],
    [{ properties: { a: { type: "string" }, b: { $ref: "#/properties/a" } } }, [{ b: "x" }], [{ b: 1 }]],
    [{ $defs: { "a/b~c": { type: "string" } }, $ref: "#/$defs/a~1b~0c" }, ["x"], [1]],
    [
      {
        $ref: "#/$defs/node",
        $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
      },
      [{ next: { next: {} } }],
      [{ next: { next: 1 } }],
    ],
    [
      {
        $ref: "#/definitions/odd",
        definitions: {
          odd: { type: "object", properties: { n: { $ref: "#/definitions/even" } } },
          even: { type: "object", properties: { n: { $ref: "#/definitions/odd" } } },
        },
      },
      [{ n: { n: { n: {} } } }],
      [{ n: { n: { n: 5 } } }],
    ],
  ],
  unevaluated: [
    [
      { allOf: [{ properties: { a: true } }], properties: { b: true }, unevaluatedProperties: false },
      [{ a: 1, b: 1 }],
      [{ c: 1 }],
    ],
    [
      {
        anyOf: [{ properties: { a: { const: 1 } } }, { properties: { b: true } }],
        unevaluatedProperties: false,
      },
      [{ a: 1 }],
      [{ a: 2 }],
    ],
    [{ prefixItems: [true], unevaluatedItems: { type: "string" } }, [[1, "a"]], [[1, 2]]],
  ],
  "boolean schemas": [
    [true, [1, null, {}], []],
    [false, [], [1, null, {}]],
  ],
};

describe("M43 arguments are checked against the tool's schema before they are sent", () => {
  for (const [name, table] of Object.entries(rows)) {
    it.each(table)(`${name}: %j`, (schema, valid, invalid) => {
      const validate = createValidator(schema);
      for (const value of valid) expect(validate(value), JSON.stringify(value)).toEqual([]);
      for (const value of invalid) expect(validate(value), JSON.stringify(value)).not.toEqual([]);
      for (const value of valid) expect(validate(value), "a second time").toEqual([]);
    });
  }

  it("resolves sibling keywords of $ref by the draft that the schema names", () => {
    const schema = { $ref: "#/$defs/a", maxLength: 1, $defs: { a: { type: "string" } } };
    expect(createValidator(schema)("abc")).toHaveLength(1);
    expect(createValidator({ $schema: "http://json-schema.org/draft-07/schema#", ...schema })("abc")).toEqual(
      [],
    );
  });

  it("does no work for a schema that is never used", () => {
    const trap = new Proxy(
      {},
      {
        get: () => expect.unreachable(),
        ownKeys: () => expect.unreachable(),
        has: () => expect.unreachable(),
      },
    );
    createValidator(trap);
  });
});

describe("M43 a mistake says where it is, what was expected and what was found", () => {
  const say = (schema: unknown, value: unknown) => createValidator(schema)(value);
  const filters = {
    type: "object",
    properties: {
      filters: {
        type: "object",
        properties: { since: { type: "string" }, state: { enum: ["open", "closed"] } },
        required: ["since"],
        additionalProperties: false,
      },
      items: { type: "array", items: { type: "object", properties: { name: { type: "string" } } } },
    },
  };

  it("names path, expected type and found type", () => {
    expect(say(filters, { filters: { since: 5 } })).toEqual([
      {
        path: "filters.since",
        message: "must be a string, but is a number",
        expected: "string",
        found: "number",
      },
    ]);
    expect(say(filters, { items: [{}, {}, { name: null }] })[0]).toMatchObject({
      path: "items[2].name",
      found: "null",
    });
    expect(say(filters, [])).toMatchObject([{ path: "", expected: "object", found: "array" }]);
  });

  it("suggests the property and the value that were probably meant", () => {
    expect(say(filters, { filters: { since: "x", stat: "open" } })).toMatchObject([
      { path: "filters.stat", message: "is not a known property", suggestion: "state" },
    ]);
    expect(say(filters, { filters: { since: "x", state: "opne" } })).toMatchObject([
      {
        path: "filters.state",
        message: 'must be "open" or "closed"',
        found: '"opne"',
        suggestion: "open",
      },
    ]);
    expect(say({ required: ["path"] }, { paht: 1 })).toMatchObject([
      { path: "path", message: 'is required (you wrote "paht")', found: "nothing" },
    ]);
  });

  it("reports a missing property at its own path, with the type it should have", () => {
    expect(say(filters, { filters: {} })).toEqual([
      { path: "filters.since", message: "is required", expected: "string", found: "nothing" },
    ]);
  });

  it("reports mistakes in the alternative that the discriminator selects", () => {
    const shape = (kind: string, size: string) => ({
      type: "object",
      properties: { kind: { const: kind }, [size]: { type: "number" } },
      required: ["kind", size],
    });
    const schema = { properties: { shape: { anyOf: [shape("circle", "radius"), shape("square", "side")] } } };
    expect(say(schema, { shape: { kind: "square", side: "3" } })).toMatchObject([
      { path: "shape.side", expected: "number", found: "string" },
    ]);
    expect(say(schema, { shape: { kind: "circle" } })).toMatchObject([
      { path: "shape.radius", message: "is required" },
    ]);
    expect(say(schema, { shape: { kind: "oval", radius: 1, side: 1 } })).toMatchObject([
      { path: "shape.kind", message: 'must be "circle" or "square", but is "oval"' },
    ]);
  });

  it("merges alternatives that only differ in type", () => {
    expect(say({ anyOf: [{ type: "string" }, { type: "integer" }] }, true)).toEqual([
      {
        path: "",
        message: "must be a string or an integer, but is a boolean",
        expected: "string or integer",
        found: "boolean",
      },
    ]);
    expect(say({ anyOf: [{ required: ["a"] }, { required: ["b"] }] }, {})).toMatchObject([
      { message: "matches none of 2 alternatives: a is required or b is required" },
    ]);
    expect(say({ oneOf: [{ required: ["a"] }, { required: ["b"] }] }, { a: 1, b: 1 })).toMatchObject([
      { message: "must match exactly one of 2 alternatives, but matches numbers 1 and 2" },
    ]);
  });

  it("reports at most twenty mistakes", () => {
    expect(
      say(
        { items: { type: "string" } },
        Array.from({ length: 500 }, () => 1),
      ),
    ).toHaveLength(20);
  });

  it("quotes unusual names so that the path stays readable", () => {
    expect(say({ properties: { "a b": { type: "string" } } }, { "a b": 1 })).toMatchObject([
      { path: '["a b"]' },
    ]);
  });
});
