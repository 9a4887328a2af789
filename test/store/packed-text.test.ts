import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { PackedText, packText } from "../../src/store/packed-text.ts";

const long = 100_000;
const texts = {
  short: "a",
  repetitive: "row ".repeat(long),
  "not to be compressed": randomBytes(long).toString("base64"),
  "of other scripts": "漢字 и ещё 🙂 ".repeat(long / 10),
  "with half a character": `${"x".repeat(long)}\ud83d`,
};

test.each(Object.entries(texts))(
  "a text that is %s comes back as it was, at once and later",
  async (_, text) => {
    const packed = packText(text);
    expect(packed.toString() === text).toBe(true);
    if (packed instanceof PackedText) await packed.settled;
    expect(packed.toString() === text).toBe(true);
  },
);

test("a long text takes no heap, and less memory where it repeats itself", async () => {
  const repetitive = new PackedText(texts.repetitive);
  const random = new PackedText(texts["not to be compressed"]);
  await Promise.all([repetitive.settled, random.settled]);
  expect(repetitive.size).toBeLessThan(texts.repetitive.length / 10);
  expect(random.size).toBeLessThanOrEqual(texts["not to be compressed"].length);
});
