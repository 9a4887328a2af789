import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { repairArguments } from "../../../src/catalog/schema/repair.ts";

const schema = {
  type: "object",
  properties: {
    ids: { type: "array", items: { type: "integer" } },
    filter: { type: "object", properties: { since: { type: "string" }, limit: { type: "integer" } } },
    count: { type: "integer" },
    ratio: { type: "number" },
    dry: { type: "boolean" },
    text: { type: "string" },
    either: { type: ["string", "array"] },
    mixed: { anyOf: [{ type: "array" }, { type: "object" }] },
    maybe: { type: ["integer", "null"] },
    anything: {},
  },
  required: ["text"],
};

describe("M43 arguments written as JSON text are repaired if there is only one reading", () => {
  it.each([
    [{ ids: "[1,2]" }, { ids: [1, 2] }],
    [{ filter: '{"since":"x"}' }, { filter: { since: "x" } }],
    [{ filter: '{"limit":"5"}' }, { filter: { limit: 5 } }],
    [{ ids: ["1", 2] }, { ids: [1, 2] }],
    [{ ids: '["1"]' }, { ids: [1] }],
    [{ count: "5" }, { count: 5 }],
    [{ count: " -5 " }, { count: -5 }],
    [{ ratio: "2.5" }, { ratio: 2.5 }],
    [{ dry: "false" }, { dry: false }],
    [{ mixed: "[]" }, { mixed: [] }],
    [{ maybe: "null" }, { maybe: null }],
    [{ count: null }, {}],
    [{ filter: { since: null, limit: 1 } }, { filter: { limit: 1 } }],
  ])("reads %j as %j", (given, expected) => {
    const { args, notes } = repairArguments(schema, { text: "t", ...given });
    expect(args).toEqual({ text: "t", ...expected });
    expect(notes.length).toBeGreaterThan(0);
  });

  it.each([
    [{ text: "[1]" }],
    [{ either: "[1]" }],
    [{ anything: "5" }],
    [{ count: "five" }],
    [{ count: "1.5" }],
    [{ count: "0x10" }],
    [{ count: "" }],
    [{ count: "99999999999999999999" }],
    [{ dry: "yes" }],
    [{ dry: "True" }],
    [{ ids: '{"a":1}' }],
    [{ ids: "1,2" }],
    [{ ids: "[1" }],
    [{ text: null }],
    [{ count: 5, ids: [1] }],
  ])("leaves %j alone", (given) => {
    const args = { text: "t", ...given };
    expect(repairArguments(schema, args)).toEqual({ args, notes: [] });
  });

  it("parses arguments that are one JSON string", () => {
    expect(repairArguments(schema, '{"text":"t","count":"1"}').args).toEqual({ text: "t", count: 1 });
  });

  it("reports its changes and does not modify its input", () => {
    const args = Object.freeze({ text: "t", ids: "[1]" });
    expect(repairArguments(schema, args).notes).toEqual([
      "ids was a string that contains an array; array was expected, so the string was parsed.",
    ]);
    expect(args.ids).toBe("[1]");
  });

  it("treats __proto__ as an ordinary name", () => {
    const args: unknown = JSON.parse('{"text":"t","__proto__":"x","count":"1"}');
    const { args: repaired } = repairArguments(schema, args);
    expect(Object.keys(repaired as object)).toEqual(["text", "__proto__", "count"]);
    expect(Object.getPrototypeOf(repaired)).toBe(Object.prototype);
  });

  it("never changes valid arguments", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(repairArguments({}, value)).toEqual({ args: value, notes: [] });
      }),
    );
  });
});
