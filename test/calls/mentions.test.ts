import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findMentions } from "../../src/calls/mentions.ts";
import { fastest } from "../processor-time.ts";

const servers = ["docs", "docs-api", "git", "my server"];

describe("M47 mentions", () => {
  it.each<[string, [string, string][]]>([
    ["read @docs:file:///a.md please", [["docs", "file:///a.md"]]],
    [
      "@docs:a and @git:b",
      [
        ["docs", "a"],
        ["git", "b"],
      ],
    ],
    ["see @docs-api:x", [["docs-api", "x"]]],
    ["the longest name wins: @docs-api:y, not @docs", [["docs-api", "y"]]],
    ["end of a sentence @docs:file:///a.md.", [["docs", "file:///a.md"]]],
    ["really @docs:a?! yes", [["docs", "a"]]],
    ["a query stays: @docs:a?b=1&c=2", [["docs", "a?b=1&c=2"]]],
    ["(see @docs:a)", [["docs", "a"]]],
    [
      "[@docs:a] {@git:b} <@git:c>",
      [
        ["docs", "a"],
        ["git", "b"],
        ["git", "c"],
      ],
    ],
    ["its own brackets: @docs:page_(old).md, more", [["docs", "page_(old).md"]]],
    [
      "in quotes \"@docs:a\" '@git:b' `@git:c`",
      [
        ["docs", "a"],
        ["git", "b"],
        ["git", "c"],
      ],
    ],
    ['spaces: @docs:"my file.md", then', [["docs", "my file.md"]]],
    ["spaces: @docs:'my file.md'", [["docs", "my file.md"]]],
    ["@my server:x", [["my server", "x"]]],
    ["请看@docs:笔记。然后", [["docs", "笔记"]]],
    ["请看 @docs:笔记\uff0c然后", [["docs", "笔记"]]],
    [
      "tabs\t@docs:a\n@git:b\r\n",
      [
        ["docs", "a"],
        ["git", "b"],
      ],
    ],
    ["mail ann@docs:25 or ann.b@docs:x", []],
    ["https://user:pw@git:8080/x", []],
    ["unknown @other:a", []],
    ["nothing behind @docs: or @docs", []],
    ["only punctuation @docs:... ", []],
    ['unclosed @docs:"my file', []],
    ['@docs:"over\nlines"', []],
    ["@@docs:a", []],
    ["@docs:a@git:b", [["docs", "a@git:b"]]],
    ["javascript is only text: @docs:javascript:alert(1)", [["docs", "javascript:alert(1)"]]],
  ])("are found in %j", (text, expected) => {
    expect(findMentions(text, servers).map(({ server, uri }) => [server, uri])).toEqual(expected);
  });

  it("are ignored if their URI is extremely long", () => {
    const text = `@docs:${"x".repeat(1_000_000)} @git:b`;
    expect(findMentions(text, servers)).toMatchObject([{ server: "git", uri: "b" }]);
  });

  it("have positions, so that they can be replaced", () => {
    const text = 'a @docs:x, b @git:"y z"!';
    expect(findMentions(text, servers).map(({ start, end }) => text.slice(start, end))).toEqual([
      "@docs:x",
      '@git:"y z"',
    ]);
  });

  it("never throw, never overlap and always name a known server", () => {
    const unit = fc.constantFrom(
      "@",
      "docs",
      "git",
      ":",
      '"',
      "'",
      " ",
      "\n",
      "(",
      ")",
      "a",
      ".",
      "😀",
      "\ud800",
      "/",
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 80 }), (text) => {
        let last = 0;
        for (const { server, uri, start, end } of findMentions(text, servers)) {
          expect(start).toBeGreaterThanOrEqual(last);
          expect(servers).toContain(server);
          expect(text.slice(start, end)).toContain(`@${server}:`);
          expect(text.slice(start, end)).toContain(uri);
          last = end;
        }
      }),
      { numRuns: 1000 },
    );
  });

  it.each(["@", '@docs:"', "@docs:(", "@docs:"])(
    "are found quickly in 200,000 repetitions of %j",
    async (piece) => {
      const text = piece.repeat(200_000);
      expect(await fastest(500, () => findMentions(text, servers))).toBeLessThan(1500);
    },
  );
});
