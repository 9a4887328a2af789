import { describe, expect, it } from "vitest";
import { hasInvisible, hiddenCharacters, printable, printableJson } from "../../src/lib/printable.ts";

const range = (first: number, last = first) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** Characters that show nothing, or change what others show. */
const invisible = [
  ...range(0xad),
  ...range(0x34f),
  ...range(0x61c),
  ...range(0x70f),
  ...range(0x115f, 0x1160),
  ...range(0x17b4, 0x17b5),
  ...range(0x180b, 0x180f),
  ...range(0x3164),
  ...range(0xfeff),
  ...range(0xffa0),
  ...range(0x110bd),
  ...range(0x110cd),
  ...range(0x200b, 0x200f),
  ...range(0x2028, 0x202e),
  ...range(0x2060, 0x206f),
  ...range(0xfe00, 0xfe0f),
  ...range(0xfff0, 0xfffb),
  ...range(0x1bca0, 0x1bca3),
  ...range(0x1d173, 0x1d17a),
  ...range(0x13430, 0x1343f),
  ...range(0xe0000, 0xe01ef),
];

const everyCharacter = () => range(0, 0x10ffff).map((code) => String.fromCodePoint(code));

describe("invisible characters", () => {
  it.for(invisible.map((code) => [code.toString(16), String.fromCodePoint(code)] as const))(
    "U+%s is shown escaped and is flagged",
    ([code, character]) => {
      const text = `say${character}cheese`;
      expect(printable(text)).toBe(`say\\u{${code}}cheese`);
      expect(printable(text, { oneLine: true })).toBe(`say\\u{${code}}cheese`);
      expect([...hiddenCharacters(text).values()]).toEqual([1]);
      expect(hasInvisible(text)).toBe(true);
      expect(printableJson(JSON.stringify(text))).toMatch(/^"say(\\u[0-9a-f]{4})+cheese"$/);
      expect(JSON.parse(printableJson(JSON.stringify(text)))).toBe(text);
    },
  );

  it("include everything that Unicode calls ignorable or a format character", () => {
    const left = everyCharacter().filter(
      (character) =>
        /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(character) &&
        !"\n\t".includes(character) &&
        printable(character) === character,
    );
    expect(left).toEqual([]);
  });

  it("are no letters, digits, signs or spaces of a language", () => {
    const escaped = everyCharacter().filter(
      (character) =>
        /[\p{L}\p{N}\p{P}\p{Sm}\p{Sc}\p{Sk}\p{So}\p{Zs}]/u.test(character) &&
        printable(character) !== character,
    );
    // The fillers are letters to Unicode, and show nothing.
    expect(escaped).toEqual(["\u{115f}", "\u{1160}", "\u{3164}", "\u{ffa0}"]);
  });
});

describe("what is made of several characters", () => {
  it.each(["❤️", "👩‍👩‍👧", "👩🏽‍💻", "🏳️‍🌈", "1️⃣", "naïve", "नमस्ते", "ที่นี่", "שָׁלוֹם", "ཧཱུྃ"])("%s stays as it is", (text) => {
    expect(printable(`a ${text} b`)).toBe(`a ${text} b`);
    expect(hiddenCharacters(text).size).toBe(0);
  });

  it.each(["a\u{fe0f}", "❤\u{fe0f}\u{fe0f}", "👩\u{200d}x", "1\u{fe0f}2", "\u{200d}👩"])(
    "%j is no emoji, so its selectors and joiners are shown",
    (text) => {
      expect(printable(text)).toContain("\\u{");
      expect([...hiddenCharacters(text).values()]).toEqual([1]);
    },
  );

  it("shows marks that are stacked over other lines", () => {
    const flood = `a${"\u{301}".repeat(40)}b`;
    expect(printable(flood)).toBe(`a${"\u{301}".repeat(6)}${"\\u{301}".repeat(34)}b`);
    expect([...hiddenCharacters(flood)]).toEqual([["stacked mark", 34]]);
  });
});

describe("in a name", () => {
  it.each(["❤️", "👩‍👧", "a\u{a0}b", "a\u{3000}b", "a\u{2800}b", "a\u{2003}b"])(
    "%j has characters that another name could leave out unseen",
    (name) => {
      expect(printable(name, { isName: true })).toContain("\\u{");
      expect(hiddenCharacters(name, { isName: true }).size).toBe(1);
      expect(printable(name)).toBe(name);
    },
  );

  it("line breaks and tabs are shown, and letters of every language are kept", () => {
    expect(printable("a\nb\tc", { isName: true })).toBe("a\\nb\\tc");
    expect(printable("größe 検索 поиск", { isName: true })).toBe("größe 検索 поиск");
    expect(["größe", "検索", "a b", "❤️"].filter(hasInvisible)).toEqual([]);
  });
});
