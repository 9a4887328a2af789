import { expect, it } from "vitest";
import { addEdit, editJson } from "../../src/lib/json-edit.ts";
import type { JsonEdits } from "../../src/lib/json-edit.ts";

const edited = (text: string, ...changes: [(string | number)[], string | undefined][]) => {
  const edits: JsonEdits = new Map();
  for (const [path, to] of changes) addEdit(edits, path, to);
  return editJson(Buffer.from(text), edits).toString();
};

it.each([
  ['{"a":1,"b":9007199254740993}', [[["a"], "2"]], '{"a":2,"b":9007199254740993}'],
  ['{ "a" : [ 1.10 , {"u":"x"} ] }', [[["a", 1, "u"], '"y"']], '{"a":[1.10,{"u":"y"}]}'],
  ['{"a":1,"b":2}', [[["a"], undefined]], '{"b":2}'],
  ['{"a":1}', [[["a"], undefined]], "{}"],
  ["{}", [[["_meta", "x"], "1"]], '{"_meta":{"x":1}}'],
  ['{"k\\u0041":1}', [[["kA"], "2"]], '{"kA":2}'],
  ['{"a":[]}', [[["a", 0], "1"]], '{"a":[]}'],
  ['{"a":1,"a":2}', [[["a"], "3"]], '{"a":3,"a":3}'],
] as const)("changes %s in its text", (text, changes, expected) => {
  expect(edited(text, ...(changes as unknown as [(string | number)[], string | undefined][]))).toBe(expected);
});

it("does not mind how deep the other values are", () => {
  const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  expect(edited(`{"a":${deep},"b":1}`, [["b"], "2"])).toBe(`{"a":${deep},"b":2}`);
});
