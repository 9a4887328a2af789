import { describe, expect, it } from "vitest";
import { hasInexactNumbers } from "../../src/lib/exact-numbers.ts";

describe("numbers that JavaScript changes", () => {
  it.each([
    "0.1",
    "-0.50",
    "1e3",
    "1E+3",
    "100",
    "0",
    "-0.0",
    "9007199254740992",
    "1.5e-7",
    "123456789012345680000",
  ])("keeps %s", (number) =>
    expect(hasInexactNumbers(`{"a":[${number}, "9007199254740993 \\"1e999"]}`)).toBe(false),
  );
  it.each(["9007199254740993", "1e999", "0.1000000000000000055", "123456789012345678901", "1e-999"])(
    "changes %s",
    (number) => expect(hasInexactNumbers(`{"a":{"b":${number}}}`)).toBe(true),
  );
});
