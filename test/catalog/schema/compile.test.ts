import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileSchema, type SchemaTarget } from "../../../src/catalog/schema/compile/compile.ts";
import { createValidator } from "../../../src/catalog/schema/validate.ts";
import { anyObject, anySchema, anyToolSchema, type Schema } from "./arbitraries.ts";
import { brokenRules } from "./target-rules.ts";

const targets: SchemaTarget[] = ["openai-strict", "openai", "anthropic", "gemini", "json-schema"];

function compiled(
  schema: unknown,
  target: SchemaTarget,
): { schema: Schema; notes: { path: string; message: string }[] } {
  const result = compileSchema(schema, target);
  if (!result.ok) throw new Error(`${result.path}: ${result.reason}`);
  return result;
}

const tool = (properties: Schema, more: Schema = {}) => ({ type: "object", properties, ...more });

describe("M51 every compiled schema obeys the rules of its target", () => {
  it.each(targets)("%s", (target) => {
    let expressed = 0;
    fc.assert(
      fc.property(anyToolSchema, (schema) => {
        const before = JSON.stringify(schema);
        const result = compileSchema(schema, target);
        expect(JSON.stringify(schema), "the original is not touched").toBe(before);
        if (!result.ok) return;
        expressed++;
        expect(brokenRules(result.schema, target), before).toEqual([]);
      }),
      { numRuns: 300 },
    );
    expect(expressed).toBeGreaterThan(target === "openai-strict" ? 50 : 150);
  });

  it.each(targets)("%s, with unions and references at the root", (target) => {
    const root = fc.record({
      keyword: fc.constantFrom("anyOf", "oneOf", "allOf"),
      branches: fc.array(anySchema({ draft: "draft-07" }), { minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(root, ({ keyword, branches }) => {
        const result = compileSchema({ [keyword]: branches, $defs: {} }, target);
        if (!result.ok || target === "json-schema") return;
        expect(brokenRules(result.schema, target), JSON.stringify(branches)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it.each(["openai", "json-schema", "anthropic"] as const)(
    "%s accepts every value that was valid before",
    (target) => {
      fc.assert(
        fc.property(anyToolSchema, fc.array(anyObject, { minLength: 1, maxLength: 10 }), (schema, values) => {
          const result = compiled(schema, target);
          const before = createValidator(schema);
          const after = createValidator(result.schema);
          for (const value of values.filter((one) => before(one).length === 0))
            expect(after(value), `${JSON.stringify(schema)} on ${JSON.stringify(value)}`).toEqual([]);
        }),
        { numRuns: 300 },
      );
    },
  );
});

describe("M51 OpenAI strict mode", () => {
  it("closes objects and makes optional properties nullable", () => {
    const { schema } = compiled(
      tool({ a: { type: "string" }, b: { enum: ["x"] }, c: { const: 1 } }, { required: ["a"] }),
      "openai-strict",
    );
    expect(schema).toEqual({
      type: "object",
      properties: {
        a: { type: "string" },
        b: { type: ["string", "null"], enum: ["x", null] },
        c: { type: ["number", "null"], enum: [1, null] },
      },
      required: ["a", "b", "c"],
      additionalProperties: false,
    });
  });

  it("keeps references and cycles, wherever they point", () => {
    const { schema } = compiled(
      tool(
        { tree: { $ref: "#/definitions/node" }, again: { $ref: "#/properties/tree" } },
        {
          required: ["tree", "again"],
          definitions: { node: tool({ next: { $ref: "#/definitions/node", description: "The next one." } }) },
        },
      ),
      "openai-strict",
    );
    expect(schema["properties"]).toEqual({ tree: { $ref: "#/$defs/node" }, again: { $ref: "#/$defs/tree" } });
    expect(schema["$defs"]).toMatchObject({
      node: {
        properties: {
          next: { description: "The next one.", anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] },
        },
      },
      tree: { $ref: "#/$defs/node" },
    });
  });

  it("says what was lost, and where", () => {
    const { schema, notes } = compiled(
      tool(
        {
          url: { type: "string", format: "uri", minLength: 3, default: "x" },
          map: { type: "object", additionalProperties: { type: "string" } },
        },
        { required: ["url"] },
      ),
      "openai-strict",
    );
    expect(schema["properties"]).toEqual({ url: { type: "string", description: 'Default: "x".' } });
    expect(notes).toEqual([
      { path: "properties.url.minLength", message: "minLength is not supported and was left out." },
      { path: "properties.url.format", message: 'The format "uri" is not supported in strict mode.' },
      {
        path: "properties.map",
        message:
          "The optional property was left out: strict mode does not allow objects with free-form properties.",
      },
    ]);
  });

  it("rejects a tool that strict mode cannot express", () => {
    expect(compileSchema(tool({ map: { type: "object" } }, { required: ["map"] }), "openai-strict")).toEqual({
      ok: false,
      path: "properties.map",
      reason: "strict mode does not allow objects with free-form properties",
    });
    let deep: Schema = tool({ x: { type: "string" } });
    for (let i = 0; i < 11; i++) deep = tool({ deep }, { required: ["deep"] });
    expect(compileSchema(deep, "openai-strict")).toMatchObject({
      ok: false,
      reason: expect.stringContaining("10 levels"),
    });
  });
});

describe("M51 roots that are unions become plain objects", () => {
  const union = tool(
    { project: { type: "string" } },
    {
      description: "Updates.",
      required: ["project"],
      anyOf: [
        { required: ["title"], properties: { title: { type: "string" } } },
        { required: ["body"], properties: { body: { type: "string" } } },
      ],
    },
  );

  it.each(["anthropic", "openai", "gemini"] as const)("for %s", (target) => {
    const { schema, notes } = compiled(union, target);
    expect(schema).toMatchObject({
      type: "object",
      description: "Updates. Give at least one of these sets of arguments: (title) or (body).",
      properties: { project: { type: "string" }, title: { type: "string" }, body: { type: "string" } },
      required: ["project"],
    });
    expect(schema).not.toHaveProperty("anyOf");
    expect(notes).toMatchObject([{ path: "anyOf" }]);
  });

  it("identifies alternatives by their constants and lists those as an enum", () => {
    const { schema } = compiled(
      {
        oneOf: [
          tool({ kind: { const: "a" }, x: { type: "string" } }, { required: ["kind", "x"] }),
          tool({ kind: { const: "b" } }, { required: ["kind"] }),
        ],
      },
      "anthropic",
    );
    expect(schema).toMatchObject({
      properties: { kind: { enum: ["a", "b"] } },
      required: ["kind"],
      description: 'Give exactly one of these sets of arguments: (kind = "a" with x) or (kind = "b").',
    });
  });

  it("accepts every value that one closed alternative accepts", () => {
    const closed = (name: string, type: string) =>
      tool({ [name]: { type }, kind: { const: name } }, { additionalProperties: false, required: [name] });
    const schema = { anyOf: [closed("a", "string"), closed("b", "number"), closed("c", "boolean")] };
    const after = createValidator(compiled(schema, "openai").schema);
    for (const value of [{ a: "x", kind: "a" }, { b: 1 }, { c: true, kind: "c" }])
      expect(after(value)).toEqual([]);
    expect(after({ d: 1 })).not.toEqual([]);
  });

  it("leaves out alternatives that no arguments can match", () => {
    const schema = { anyOf: [false, { type: "string" }, { $ref: "#" }, tool({ a: { type: "string" } })] };
    expect(compiled(schema, "anthropic").schema).toEqual(tool({ a: { type: "string" } }));
    expect(compileSchema({ anyOf: [{ type: "string" }] }, "openai")).toMatchObject({
      ok: false,
      path: "anyOf",
    });
  });

  it("expands a reference at the root", () => {
    const schema = {
      $ref: "#/definitions/Args",
      definitions: { Args: tool({ self: { $ref: "#/definitions/Args" } }) },
    };
    for (const target of ["anthropic", "openai", "openai-strict", "gemini"] as const)
      expect(compiled(schema, target).schema).toMatchObject({ type: "object", properties: { self: {} } });
  });
});

describe("M51 Anthropic", () => {
  it("leaves out an optional argument with an illegal name, and rejects a required one", () => {
    const schema = tool({ "filter[id]": { type: "string" }, ok: {} });
    const { schema: written, notes } = compiled(schema, "anthropic");
    expect(Object.keys(written["properties"] as object)).toEqual(["ok"]);
    expect(notes).toMatchObject([{ path: 'properties["filter[id]"]' }]);
    expect(compileSchema({ ...schema, required: ["filter[id]"] }, "anthropic")).toMatchObject({
      ok: false,
      path: 'properties["filter[id]"]',
    });
  });

  it("uses draft 2020-12", () => {
    const { schema } = compiled(
      tool(
        {
          pair: { type: "array", items: [{ type: "string" }], additionalItems: false },
          n: { type: "number", minimum: 1, exclusiveMinimum: true },
          odd: { type: "any", required: true },
        },
        { $schema: "http://json-schema.org/draft-07/schema#" },
      ),
      "anthropic",
    );
    expect(schema).toEqual(
      tool({
        pair: { type: "array", prefixItems: [{ type: "string" }], items: false },
        n: { type: "number", exclusiveMinimum: 1 },
        odd: {},
      }),
    );
  });
});

describe("M51 Gemini", () => {
  it.each([
    ["type arrays", { type: ["string", "null"] }, { type: "string", nullable: true }],
    [
      "several types",
      { type: ["string", "integer"], description: "D" },
      {
        anyOf: [
          { description: "D", type: "string" },
          { description: "D", type: "integer" },
        ],
      },
    ],
    ["constants", { const: "x" }, { type: "string", enum: ["x"] }],
    ["numbers in an enumeration", { enum: [1, 2] }, { type: "number", description: "Must be 1 or 2." }],
    ["texts without type", { enum: ["a", ""] }, { type: "string", enum: ["a"] }],
    [
      "union with null",
      { anyOf: [{ type: "string" }, { type: "null" }], default: null },
      { type: "string", nullable: true, description: "Default: null." },
    ],
    ["formats", { type: "string", format: "uri" }, { type: "string" }],
    ["known formats", { type: "string", format: "date-time" }, { type: "string", format: "date-time" }],
    [
      "tuples",
      { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false },
      { type: "array", maxItems: 2, items: { anyOf: [{ type: "string" }, { type: "number" }] } },
    ],
    [
      "tuples of old",
      { type: "array", items: [{ type: "string" }, { type: "string" }] },
      { type: "array", items: { type: "string" } },
    ],
    [
      "lists of anything",
      { type: "array" },
      { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }, { type: "boolean" }] } },
    ],
    [
      "lists of lists",
      { type: "array", items: { type: "array", items: { type: "number" } } },
      { type: "array", items: { type: "array", items: { type: "number" } } },
    ],
    ["open objects", { type: "object", additionalProperties: { type: "string" } }, { type: "object" }],
    [
      "missing types",
      { properties: { x: { minimum: 1 } } },
      { type: "object", properties: { x: { type: "number", minimum: 1 } } },
    ],
    ["references", { $ref: "#/$defs/text", description: "Mine." }, { type: "string", description: "Mine." }],
    [
      "wrapped references",
      { allOf: [{ $ref: "#/$defs/text" }], description: "Mine." },
      { type: "string", description: "Mine." },
    ],
    [
      "combinations",
      { allOf: [tool({ a: { type: "string" } }), tool({ b: { type: "string" } }, { required: ["b"] })] },
      tool({ a: { type: "string" }, b: { type: "string" } }, { required: ["b"] }),
    ],
  ])("translates %s", (_, given, expected) => {
    const { schema } = compiled(tool({ it: given }, { $defs: { text: { type: "string" } } }), "gemini");
    expect(schema).toEqual(tool({ it: expected }));
  });

  it("cuts cycles with a note", () => {
    const node = tool({ next: { $ref: "#/$defs/node" }, value: { type: "string" } });
    const { schema, notes } = compiled(
      tool({ root: { $ref: "#/$defs/node" } }, { $defs: { node } }),
      "gemini",
    );
    expect(schema).toEqual(tool({ root: tool({ next: { type: "object" }, value: { type: "string" } }) }));
    expect(notes).toEqual([
      {
        path: "properties.root.properties.next",
        message: "The schema is recursive; from here on any object is accepted.",
      },
    ]);
  });

  it("says which arguments belong to an alternative", () => {
    const { schema } = compiled(
      tool({
        q: {
          type: "object",
          properties: { a: { type: "string" } },
          anyOf: [{ required: ["a"] }, { properties: { b: { type: "string" } }, required: ["b"] }],
        },
      }),
      "gemini",
    );
    expect(brokenRules(schema, "gemini")).toEqual([]);
    expect(schema["properties"]).toMatchObject({ q: { anyOf: [{ required: ["a"] }, { required: ["b"] }] } });
  });
});

describe("M51 one bad tool is set aside and named", () => {
  it.each(targets)("for %s", (target) => {
    expect(compileSchema(null, target)).toEqual({
      ok: false,
      path: "",
      reason: "a schema must be an object, not null",
    });
    expect(compileSchema(tool({ a: { $ref: "https://example.com/a" } }), target)).toMatchObject({
      ok: false,
      path: "properties.a",
    });
    expect(compiled({}, target).schema).toMatchObject({ type: "object", properties: {} });
  });

  it("rejects references that double at every level instead of expanding them", () => {
    const $defs: Schema = { d0: { type: "string" } };
    for (let i = 1; i <= 20; i++)
      $defs[`d${i}`] = tool({ a: { $ref: `#/$defs/d${i - 1}` }, b: { $ref: `#/$defs/d${i - 1}` } });
    const schema = tool({ it: { $ref: "#/$defs/d20" } }, { $defs, required: ["it"] });
    expect(compileSchema(schema, "gemini")).toMatchObject({
      ok: false,
      reason: expect.stringContaining("10000 parts"),
    });
    expect(compileSchema(schema, "openai")).toMatchObject({ ok: true });
  });

  it.each(["gemini", "openai-strict", "openai"] as const)(
    "gives up on thousands of combinations for %s",
    (target) => {
      const allOf = Array.from({ length: 3_000 }, (_, index) => ({ properties: { [`p${index}`]: {} } }));
      expect(compileSchema({ type: "object", allOf }, target)).toMatchObject({
        ok: false,
        reason: "it grows beyond 10000 parts when references are expanded",
      });
    },
  );

  it("treats __proto__ as an ordinary name", () => {
    const schema: unknown = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}}}',
    );
    for (const target of targets)
      expect(Object.keys(compiled(schema, target).schema["properties"] as object)).toEqual([
        "__proto__",
        "constructor",
      ]);
  });
});
