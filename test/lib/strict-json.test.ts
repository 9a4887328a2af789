import fc from "fast-check";
import { expect, it } from "vitest";
import { jsonValueEnd } from "../../src/lib/strict-json.ts";

const parses = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** True if the text is one value and nothing else. */
const isValue = (text: string, maxDepth = 1_000) => {
  const bytes = Buffer.from(text);
  return jsonValueEnd(bytes, 0, maxDepth) === bytes.length;
};

it("M80 bytes are taken for JSON exactly where JSON.parse takes them", () => {
  fc.assert(fc.property(fc.json(), (text) => isValue(text)));
  // One character changed, left out or put in, of those that mean something.
  const change = fc.constantFrom(...'{}[]",:\\/tfn-+.e0129u \u0001\té'.split(""), "");
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.nat({ max: 1 }), change, (text, place, removed, put) => {
      const at = place % (text.length + 1);
      const changed = `${text.slice(0, at)}${put}${text.slice(at + removed)}`.trim();
      expect([changed, isValue(changed)]).toEqual([changed, changed !== "" && parses(changed)]);
    }),
    { numRuns: 3_000 },
  );
});

it.each([
  "0",
  "-0",
  "01",
  "1.",
  ".5",
  "1e",
  "1e+",
  "1E-07",
  "-",
  "+1",
  "1.5e3",
  "NaN",
  "tru",
  "trueish",
  "null",
  "nul",
  '"\\u00e9"',
  '"\\u00g9"',
  '"\\x"',
  '"a\tb"',
  '"a',
  '"\\',
  "[1,]",
  "[,1]",
  "{,}",
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  "{a:1}",
  "[1 2]",
  "[}",
  "{]",
  "[[]",
  "[]]",
  '{"a":[{"b":null}]}',
  "[ 1 , 2 ]",
  "",
  "é",
])("M80 %j is judged as JSON.parse does", (text) => {
  expect(isValue(text)).toBe(parses(text));
});

it("M80 long strings are judged alike wherever they lie in memory and whatever they hold", () => {
  const odd = fc.constantFrom(
    '"',
    "\\",
    '\\"',
    "\\u00e9",
    "\\u00",
    "\\x",
    "\u0000",
    "\u001f",
    "\u007f",
    "é",
    "☃",
    "😀",
  );
  fc.assert(
    fc.property(
      fc.nat({ max: 200 }),
      odd,
      fc.nat({ max: 9 }),
      fc.nat({ max: 7 }),
      (before, put, after, offset) => {
        const text = `"${"x".repeat(before)}${put}${"y".repeat(after)}"`;
        const bytes = Buffer.from("!".repeat(offset) + text).subarray(offset);
        expect([text, jsonValueEnd(bytes, 0, 1) === bytes.length]).toEqual([text, parses(text)]);
      },
    ),
    { numRuns: 3_000 },
  );
});

it("M80 what is nested too deeply is refused without recursion", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  expect(isValue(nested(500), 500)).toBe(true);
  expect(isValue(nested(501), 500)).toBe(false);
  expect(isValue(nested(1_000_000), 1_000_001)).toBe(true);
});
