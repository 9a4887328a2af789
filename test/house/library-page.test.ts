import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { anchorsOf } from "../../scripts/library/anchors.ts";
import * as config from "../../src/config.ts";
import * as host from "../../src/host.ts";
import * as root from "../../src/index.ts";

const library = { ...root, ...config, ...host };
const page = readFileSync("docs/library.md", "utf8");
const [chapters = "", reference = ""] = page.split(/^## Reference$/m);
const prose = page.replaceAll(/^```.*?^```$/gms, "");

describe("docs/library.md", () => {
  it("describes every name that can be imported from plugboard, plugboard/config and plugboard/host", () => {
    const described = new Set([...reference.matchAll(/^#### (.*)$/gm)].map(([, name]) => name));
    expect(Object.keys(library).filter((name) => !described.has(name))).toEqual([]);
    expect(described.size).toBeGreaterThan(Object.keys(library).length * 2);
  });

  it("groups names under the headings of an entry, never under comments inside of functions", () => {
    const headings = [...reference.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading);
    const groups = ["index.ts", "config.ts", "host.ts", "gateway/index.ts", "telemetry/index.ts"].flatMap(
      (file) => {
        const source = readFileSync(join("src", file), "utf8");
        return [...source.matchAll(/^\/\/ (.*?)\.?$/gm)].map(([, title]) => title);
      },
    );
    expect(headings).toEqual(groups);
  });

  it("says about every name what it is for", () => {
    const silent = /^#### (.*)\n\n(?:- |```|(?:An object|A class) with|`(?:const|type|\w+(?:<.*>)?\())/gm;
    expect([...reference.matchAll(silent)].map(([, name]) => name)).toEqual([]);
    const [, testing = ""] = /^## From "plugboard\/testing"\n(.*?)^## /ms.exec(reference) ?? [];
    expect(testing.match(/^- .*$/gm)?.filter((line) => !/^- `[^`]+`: ./.test(line))).toEqual([]);
  });

  it("writes out types that nobody can import, and leaves out what nobody can call", () => {
    const sectionOf = (name: string) => new RegExp(`^#### ${name}\\n(.*?)^####? `, "ms").exec(reference)?.[1];
    expect(sectionOf("View")).toContain(
      "options?: { signal?: AbortSignal; profile?: string }): Promise<void>`",
    );
    expect(sectionOf("CallProgress")).toContain("- `at: number`: Milliseconds since the epoch.");
    expect(sectionOf("WorkspaceOptions")).not.toContain("- `trust");
    expect(sectionOf("CallOptions")).toContain("onQuestion?: (question: ServerQuestion) =>");
    expect(sectionOf("Refusal")).toContain("- `new Refusal(code: number, message: string, data?: unknown)`");
    expect(sectionOf("Hub")).not.toMatch(/new Hub|#private|constructor/);
  });

  it("sends nobody to something outside the repository, but to packages and their specifications", () => {
    const addresses = [...prose.matchAll(/https?:\/\/[^\s)`"]+/g)].map(([address]) => address);
    const allowed = /^https:\/\/www\.npmjs\.com\/package\/|^https?:\/\/127\.0\.0\.1\b/;
    expect(addresses.filter((address) => !allowed.test(address))).toEqual([]);
  });

  it("has no link that leads nowhere", () => {
    const anchorOf = anchorsOf("");
    const headings = [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);
    const anchors = new Set(headings.map(anchorOf));
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, href = ""]) => href);
    expect(links.length).toBeGreaterThan(300);
    const isThere = (href: string) =>
      href.startsWith("https:") ||
      (href.startsWith("#") ? anchors.has(href) : existsSync(join("docs", href)));
    expect([...new Set(links)].filter((href) => !isThere(href))).toEqual([]);
  });

  it("stays short enough to be read", () => {
    expect(chapters.split("\n").length).toBeLessThan(500);
    expect(reference.split("\n").length).toBeLessThan(4200);
  });
});
