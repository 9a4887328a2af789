import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { installPackage } from "../packed-package.ts";

const linksOf = (page: string): string[] => {
  const prose = page.replaceAll(/^```.*?^```$|`[^`\n]*`/gms, "");
  return [...prose.matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)].map(([, path = ""]) => path);
};

describe("the README of the package", () => {
  const before = readFileSync("README.md", "utf8");
  const text = execFileSync(process.execPath, ["scripts/package-readme.mjs"], { encoding: "utf8" });
  const { folder, remove } = installPackage();
  afterAll(remove);
  const place = join(folder, "node_modules/plugboard");

  it("says how to install it, and nothing about a clone", () => {
    expect(text).toContain("npm install plugboard");
    expect(text).not.toMatch(/npm ci|npm test|`npm start|clone|<!--|-->/);
  });

  it("has links and pictures that lead to files of the package", () => {
    const links = linksOf(text);
    expect(links).toEqual(expect.arrayContaining(["docs/pictures/status.svg", "docs/library.md", "LICENSE"]));
    expect(links.filter((path) => !existsSync(join(place, path)))).toEqual([]);
  });

  it("comes with documentation whose links lead to files of the package", () => {
    const pages = globSync("{CHANGELOG.md,docs/**/*.md}", { cwd: place });
    expect(pages.length).toBeGreaterThan(30);
    const lost = pages.flatMap((page) =>
      linksOf(readFileSync(join(place, page), "utf8"))
        .filter((path) => !existsSync(join(place, dirname(page), path)))
        .map((path) => `${page}: ${path}`),
    );
    expect(lost).toEqual([]);
  });

  it("keeps every other line of the repository's", () => {
    const lines = new Set(text.split("\n"));
    const tour = before.slice(before.indexOf("## Tour"), before.indexOf("## Features")).split("\n");
    expect(tour.filter((line) => !lines.has(line) && !/^ +script +\.npmrc /.test(line))).toEqual([]);
    expect(readFileSync("README.md", "utf8")).toBe(before);
  });
});
