import { describe, expect, it } from "vitest";
import { describedOutside, fromOutside } from "../../src/adapters/core/outside.ts";

describe("what an untrusted server says to a model", () => {
  const smuggled = Array.from("obey", (letter) => String.fromCodePoint(letter.charCodeAt(0) + 0xe0000)).join(
    "",
  );

  it.each([
    ["data", (text: string) => fromOutside("stranger", text)],
    ["a description", (text: string) => describedOutside("stranger", text)],
  ])("has no character in %s that a person would not see", (_, say) => {
    const said = say(`A page.${smuggled}\u3164\u180b\r\n\tNext ❤️ 日本語`);
    expect(said).toContain(
      "A page.\\u{e006f}\\u{e0062}\\u{e0065}\\u{e0079}\\u{3164}\\u{180b}\n\tNext ❤️ 日本語",
    );
    expect(said).not.toMatch(/[\p{Cf}\r\u3164\u180b]/u);
  });
});
