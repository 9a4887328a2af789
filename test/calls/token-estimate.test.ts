import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens, measure } from "../../src/calls/output/token-estimate.ts";
import { fastest } from "../processor-time.ts";
import { tokenSamples } from "./token-samples.ts";

describe("M45 token estimates", () => {
  it.each(Object.entries(tokenSamples))("are within a quarter of o200k for %s", (_, { text, tokens }) => {
    expect(Math.abs(estimateTokens(text) / tokens - 1)).toBeLessThan(0.25);
  });

  it("are the same for a huge, sampled text as for its pieces", () => {
    const text = tokenSamples["compact JSON"]!.text + tokenSamples["English prose"]!.text;
    const times = Math.ceil(8_000_000 / text.length);
    expect(Math.abs(estimateTokens(text.repeat(times)) / (estimateTokens(text) * times) - 1)).toBeLessThan(
      0.1,
    );
  });

  it.each([
    ["prose", tokenSamples["English prose"]!.text],
    ["one word", "x"],
    ["spaces", " "],
    ["Chinese", "漢"],
    ["noise", "a1"],
  ])("take well under a second for 50 MB of %s", async (_, piece) => {
    const text = piece.repeat(Math.ceil(50_000_000 / piece.length));
    expect(estimateTokens(text)).toBeGreaterThan(100_000);
    expect(await fastest(500, () => estimateTokens(text))).toBeLessThan(800);
  });

  it("are zero for empty text, and always finite and at most one per character", () => {
    expect(estimateTokens("")).toBe(0);
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        expect(estimateTokens(text)).toBeLessThanOrEqual(text.length + 1);
      }),
    );
  });

  it("stop soon after the limit and lose nothing between two halves", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), fc.nat(60), (text, limit) => {
        const first = measure(text, 0, text.length, limit);
        const rest = measure(text, first.end, text.length);
        const whole = measure(text, 0, text.length);
        expect(first.tokens).toBeLessThan(limit + 70);
        expect(Math.abs(first.tokens + rest.tokens - whole.tokens)).toBeLessThan(4);
      }),
    );
  });
});
