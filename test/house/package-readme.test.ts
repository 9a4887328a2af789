import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

describe("the README of the package", () => {
  const before = readFileSync("README.md", "utf8");
  const text = execFileSync(process.execPath, ["scripts/package-readme.mjs"], { encoding: "utf8" });

  it("says how to install it, and nothing about a clone", () => {
    expect(text).toContain("npm install plugboard");
    expect(text).not.toMatch(/npm ci|npm test|`npm start|clone|<!--|-->/);
  });

  it("has no link to a page that is not in the package", () => {
    expect([...text.matchAll(/\]\((?!https?:)[^)]*\)/g)].map(([link]) => link)).toEqual([]);
  });

  it("keeps every other line of the repository's", () => {
    const lines = new Set(text.split("\n"));
    const tour = before.slice(before.indexOf("## Tour"), before.indexOf("## Features")).split("\n");
    expect(tour.filter((line) => !lines.has(line) && !line.includes("]("))).toEqual([]);
    expect(readFileSync("README.md", "utf8")).toBe(before);
  });
});
