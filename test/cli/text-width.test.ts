import { expect, it } from "vitest";
import { displayWidth, hardWrap, wrapText } from "../../src/cli/terminal/text-width.ts";

it("M14 a command in backticks is not broken, unless it is longer than a line", () => {
  expect(wrapText("Allow it with `plugboard trust notes`.", 24)).toEqual([
    "Allow it with",
    "`plugboard trust notes`.",
  ]);
  expect(wrapText("Run `plugboard call files.read path=a`", 20)).toEqual([
    "Run `plugboard call",
    "files.read path=a`",
  ]);
  expect(wrapText("a ` b c", 3)).toEqual(["a `", "b c"]);
});

it.each([
  ["कि", 2],
  ["e\u{301}", 1],
  ["❤️", 2],
  ["漢", 2],
  ["\u{1f210}", 2],
  ["\u{17000}", 2],
  ["\u{fe10}", 2],
  ["\u{2329}", 2],
  ["\u{1d300}", 2],
  ["\u{2630}", 2],
])("%s takes no more columns on a terminal than it is given", (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

it("a text is broken only where a line is full, and keeps every space", () => {
  expect(hardWrap("  a b   c", 20)).toEqual(["  a b   c"]);
  expect(hardWrap("one two three", 9)).toEqual(["one two ", "three"]);
  expect(hardWrap("a".repeat(10), 4)).toEqual(["aaaa", "aaaa", "aa"]);
  const text = "  spaces   and 漢字 and \u{1f210}\u{1f210}\u{1f210} ".repeat(20);
  for (const width of [5, 10, 33]) {
    const lines = hardWrap(text, width);
    expect(lines.join("")).toBe(text);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
  }
});
