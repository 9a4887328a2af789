import { expect, it } from "vitest";
import { wrapText } from "../../src/cli/terminal/text-width.ts";

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
