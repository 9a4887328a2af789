import { describe, expect, it } from "vitest";
import { guardSchema, schemaLimits } from "../../../src/catalog/schema/guard.ts";

const withProperty = (schema: unknown) => ({ type: "object", properties: { a: schema } });

describe("M43 the schema guard sets a hostile tool aside and says why", () => {
  it.each([
    [undefined, "it has no schema"],
    [null, "a schema must be an object, not null"],
    [true, "a schema must be an object, not true"],
    ["object", 'a schema must be an object, not "object"'],
    [[], "a schema must be an object, not an array"],
    [{ type: "array" }, `arguments must be an object, but the schema's type is "array"`],
    [{ type: ["string", "null"] }, `arguments must be an object, but the schema's type is ["string","null"]`],
    [{ minLength: 3 }, "the schema does not describe an object"],
  ])("rejects %j as the schema of arguments", (schema, reason) => {
    expect(guardSchema(schema)).toEqual({ ok: false, path: "", reason });
  });

  it.each([
    [{ type: "object" }],
    [{}],
    [{ properties: {} }],
    [{ type: ["object", "null"] }],
    [{ anyOf: [{ required: ["a"] }] }],
    [{ $ref: "#/$defs/a", $defs: { a: { type: "object" } } }],
    [{ type: "object", properties: { a: { $ref: "#/properties/b" }, b: {} } }],
    [withProperty({ type: "array", items: { $ref: "#" } })],
    [{ type: "object", properties: { $ref: { type: "string" }, pattern: { type: "string" } } }],
    [{ type: "object", properties: { a: { default: { $ref: "https://example.com/x" } } } }],
  ])("lets %j through", (schema) => {
    expect(guardSchema(schema)).toEqual({ ok: true });
  });

  it.each([
    [
      "https://example.com/schema.json",
      "it refers to https://example.com/schema.json, but schemas are never fetched",
    ],
    ["file:///etc/passwd", "it refers to file:///etc/passwd, but schemas are never fetched"],
    ["#/$defs/nope", "it refers to #/$defs/nope, which does not exist"],
    ["other.json#/a", "it refers to other.json#/a, which does not exist"],
    ["#nope", "it refers to #nope, which does not exist"],
    ["#/type", "it refers to #/type, which is not a schema"],
    ["#/properties/a", "the reference #/properties/a only refers back to itself"],
    ["#/toString", "it refers to #/toString, which does not exist"],
  ])("rejects the reference %s", ($ref, reason) => {
    expect(guardSchema(withProperty({ $ref }))).toEqual({ ok: false, path: "properties.a", reason });
  });

  const chain = (levels: number) => {
    let schema: Record<string, unknown> = {};
    for (let i = 0; i < levels; i++) schema = { not: schema };
    return { type: "object", ...schema };
  };
  const many = (count: number, make: (index: number) => unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, make(index)]));

  it.each([
    [
      "bytes",
      () => ({ type: "object", description: "x".repeat(5_000_000) }),
      "the schema is larger than 256 KB",
    ],
    [
      "bytes, spread out",
      () => ({ type: "object", enum: Array.from({ length: 9000 }, () => "é".repeat(20)) }),
      "the schema is larger than 256 KB",
    ],
    ["depth", () => chain(5_000), "it is nested deeper than 64 levels"],
    [
      "nodes",
      () => ({ type: "object", enum: Array.from({ length: 20_000 }, () => 1) }),
      "the schema has more than 20000 values",
    ],
    [
      "a million nodes",
      () => ({ type: "object", enum: Array.from({ length: 1_000_000 }, () => 1) }),
      "the schema has more than 20000 values",
    ],
    [
      "properties",
      () => ({ type: "object", properties: many(5_001, () => true) }),
      "the schema has more than 5000 properties",
    ],
    [
      "patterns",
      () => ({ type: "object", properties: many(501, () => ({ pattern: "a" })) }),
      "the schema has more than 500 patterns",
    ],
    [
      "pattern names",
      () => ({ type: "object", patternProperties: many(501, () => true) }),
      "the schema has more than 500 patterns",
    ],
    [
      "pattern length",
      () => withProperty({ pattern: "a".repeat(2_001) }),
      "a pattern is longer than 2000 characters",
    ],
    [
      "references",
      () => ({
        type: "object",
        $defs: { a: {} },
        allOf: Array.from({ length: 2_001 }, () => ({ $ref: "#/$defs/a" })),
      }),
      "the schema has more than 2000 references",
    ],
  ])("limits %s", (_, make, reason) => {
    expect(guardSchema(make())).toMatchObject({ ok: false, reason });
  });

  it("accepts a schema just within the limits", () => {
    expect(guardSchema(chain(schemaLimits.depth - 1))).toEqual({ ok: true });
    expect(guardSchema({ type: "object", properties: many(schemaLimits.properties, () => true) })).toEqual({
      ok: true,
    });
  });

  it("stays linear on long chains of references", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 1_900 }, (_, index) => [
        `d${index}`,
        index === 1_899 ? {} : { $ref: `#/$defs/d${index + 1}` },
      ]),
    );
    expect(guardSchema({ type: "object", $defs, $ref: "#/$defs/d0" })).toEqual({ ok: true });
  });

  it("survives a value that contains itself", () => {
    const loop: Record<string, unknown> = { type: "object" };
    loop["not"] = loop;
    expect(guardSchema(loop)).toMatchObject({ ok: false, reason: "it is nested deeper than 64 levels" });
  });
});
