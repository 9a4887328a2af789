import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

describe("commands that we suggest", () => {
  // People copy them into shells, and projects and servers choose the names in them.
  it("quote every word that they fill in", () => {
    const suggestion =
      /plugboard(?: [a-z-]+)+ (?:[^`"$]*)\$\{(?!(?:safe\()?(?:shellWord|joinArgv)\()[^}]*\}/g;
    const found = globSync("src/**/*.ts").flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(suggestion)].map(([text]) => `${file}: ${text}`),
    );
    expect(found).toEqual([]);
  });
});
