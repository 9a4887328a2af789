import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { packText, unpackText } from "../../src/store/packed-text.ts";
import type { PackedText } from "../../src/store/packed-text.ts";

const long = 100_000;
const texts = {
  short: "a",
  repetitive: "row ".repeat(long),
  "not to be compressed": randomBytes(long).toString("base64"),
  "of other scripts": "漢字 и ещё 🙂 ".repeat(long / 10),
  "with half a character": `${"x".repeat(long)}\ud83d`,
};

test.each(Object.entries(texts))("a text that is %s comes back as it was", (_, text) => {
  expect(unpackText(packText(text)) === text).toBe(true);
});

test("a long text takes no heap, and less memory where it repeats itself", () => {
  const sizeOf = (packed: PackedText) => (typeof packed === "string" ? Infinity : packed.bytes.length);
  expect(sizeOf(packText(texts.repetitive))).toBeLessThan(texts.repetitive.length / 10);
  expect(sizeOf(packText(texts["not to be compressed"]))).toBeLessThanOrEqual(
    texts["not to be compressed"].length,
  );
});
