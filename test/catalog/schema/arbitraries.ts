import fc from "fast-check";

export type Schema = Record<string, unknown>;

const names = ["a", "b", "c", "kind"] as const;
const words = ["", "x", "xy", "long word", "é😀"] as const;

/** Values small enough to often match, and often not match, the schemas below. */
export const anyValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(...words),
    fc.integer({ min: -3, max: 6 }),
    fc.constantFrom(0.5, 2.5, null, true, false),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 4 }),
  ),
})).value;

export const anyObject = fc.dictionary(fc.constantFrom(...names), anyValue, { maxKeys: 4 });

interface Grammar {
  draft: "draft-07" | "2020-12";
  /** References into these definitions may appear. */
  definitions?: readonly string[];
}

/** Typical tool schemas, with the keywords of one draft. */
export function anySchema({ draft, definitions = [] }: Grammar): fc.Arbitrary<unknown> {
  const isOld = draft === "draft-07";
  return fc.letrec((tie) => {
    const inner = tie("schema");
    const partly = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
    const record = (members: Record<string, fc.Arbitrary<unknown>>) =>
      fc.record(members).map((schema) => JSON.parse(JSON.stringify(schema)) as Schema);
    const few = fc.integer({ min: 0, max: 3 });
    const references = definitions.map((name) => ({ $ref: `#/$defs/${name}` }));
    return {
      schema: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        record({
          type: fc.constant("string"),
          minLength: partly(few),
          maxLength: partly(few),
          pattern: partly(fc.constantFrom("^x", "y$", "^[a-z ]*$", "(x|long)", "^$")),
          description: partly(fc.constant("A text.")),
        }),
        record({
          type: fc.constantFrom("integer", "number"),
          minimum: partly(few),
          maximum: partly(few),
          exclusiveMinimum: partly(few),
          multipleOf: partly(fc.constantFrom(1, 2, 0.5)),
        }),
        record({
          type: fc.constantFrom(
            "boolean",
            "null",
            ["string", "null"],
            ["integer", "boolean"],
            ["object", "string"],
          ),
        }),
        record({
          enum: fc.uniqueArray(fc.constantFrom("x", "xy", 1, 2.5, null, true), {
            minLength: 1,
            maxLength: 3,
          }),
        }),
        record({ const: fc.constantFrom("x", 0, null, false) }),
        fc.constantFrom<unknown>(true, {}, ...references),
        record({
          type: partly(fc.constant("array")),
          items: isOld ? fc.oneof(inner, fc.array(inner, { minLength: 1, maxLength: 2 })) : partly(inner),
          ...(isOld
            ? { additionalItems: partly(inner) }
            : { prefixItems: partly(fc.array(inner, { minLength: 1, maxLength: 2 })) }),
          minItems: partly(few),
          maxItems: partly(few),
          uniqueItems: partly(fc.boolean()),
        }).map(withoutUniqueTuples),
        // Not together with tuples: ajv accepts an empty array if both are required.
        record({ contains: inner, maxItems: partly(few) }),
        record({
          type: partly(fc.constant("object")),
          properties: partly(fc.dictionary(fc.constantFrom(...names), inner, { maxKeys: 3 })),
          required: partly(fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 })),
          additionalProperties: partly(fc.oneof(fc.boolean(), inner)),
          minProperties: partly(few),
          ...(isOld
            ? {
                dependencies: partly(
                  fc.dictionary(fc.constantFrom("a", "b"), fc.oneof(inner, fc.constant(["c"])), {
                    maxKeys: 2,
                  }),
                ),
              }
            : {
                dependentRequired: partly(fc.constant({ a: ["b"] })),
                unevaluatedProperties: partly(fc.boolean()),
              }),
          propertyNames: partly(fc.constant({ maxLength: 1 })),
        }),
        record({ allOf: fc.array(inner, { minLength: 1, maxLength: 2 }) }),
        record({
          anyOf: fc.array(inner, { minLength: 1, maxLength: 3 }),
          description: partly(fc.constant("Either.")),
        }),
        record({ oneOf: fc.array(inner, { minLength: 1, maxLength: 3 }) }),
        record({ not: inner }),
        fc
          .tuple(inner, inner, inner)
          .map((parts) =>
            Object.fromEntries(["if", "then", "else"].map((name, index) => [name, parts[index]])),
          ),
      ),
    };
  }).schema;
}

/** ajv compares only the items of the type in `items`, although `prefixItems` may allow others before them. */
function withoutUniqueTuples({ uniqueItems, ...schema }: Schema): Schema {
  return uniqueItems === undefined || "prefixItems" in schema ? schema : { ...schema, uniqueItems };
}

/** Argument schemas with definitions that refer to each other and to the root. */
export const anyToolSchema: fc.Arbitrary<Schema> = fc
  .record({
    properties: fc.dictionary(
      fc.constantFrom(...names),
      anySchema({ draft: "2020-12", definitions: ["one", "two"] }),
      { maxKeys: 4 },
    ),
    required: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 }),
    one: anySchema({ draft: "2020-12", definitions: ["two"] }),
    two: anySchema({ draft: "2020-12" }),
    link: fc.constantFrom("#", "#/$defs/node", "#/properties/a"),
  })
  .map(({ properties, required, one, two, link }) => ({
    type: "object",
    properties: {
      ...properties,
      a: properties["a"] ?? { type: "string" },
      ...(link === "#/properties/a" ? {} : { link: { $ref: link } }),
    },
    required,
    $defs: {
      one,
      two,
      node: {
        type: "object",
        properties: {
          next: { $ref: "#/$defs/node" },
          list: { type: "array", items: { $ref: "#/$defs/node" } },
        },
      },
    },
  }));
