import { describe, expect, it } from "vitest";
import { inFairShares } from "../../src/lib/fair-shares.ts";
import { headOf } from "../../src/lib/text-head.ts";

describe("texts in fair shares", () => {
  it("keeps short texts whole, and cuts the long ones alike", () => {
    const shared = inFairShares(["a".repeat(10_000), "short", "b".repeat(5_000), "c".repeat(900)], 4_000);
    expect(shared.map(({ length }) => length)).toEqual([1547, 5, 1547, 900]);
    expect(shared[0]).toMatch(/^a+ …$/);
  });

  it("keeps everything where there is room, and has nothing to say without any", () => {
    expect(inFairShares(["one", "two"], 6)).toEqual(["one", "two"]);
    expect(inFairShares([], 100)).toEqual([]);
    expect(inFairShares(["long", "longer"], 0)).toEqual(["", ""]);
  });
});

describe("the head of a text", () => {
  it.each(["😀", "👩‍👩‍👧‍👦", "🇩🇪", "é", "ä", "각", "\r\n"])("does not end in the middle of %j", (character) => {
    const text = character.repeat(200);
    for (let most = 60; most < 100; most++) {
      const head = headOf(text, most);
      expect(head.length).toBeLessThanOrEqual(most);
      const kept = head.slice(0, -2);
      expect(kept).toBe(character.repeat(kept.length / character.length));
    }
  });

  it("is well-formed although what looks like one character has no end", () => {
    const head = headOf(`a${"\u0301".repeat(500)}${"😀".repeat(500)}`, 333);
    expect(head.isWellFormed()).toBe(true);
    expect(head.length).toBeGreaterThan(300);
  });
});
