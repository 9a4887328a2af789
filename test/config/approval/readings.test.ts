import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rulingOf } from "../../../src/config/approval/rules.ts";
import type { Mode } from "../../../src/config/approval/schema.ts";
import "../../property-seed.ts";

const modeOf = (pattern: string, mode: Mode, path: string) =>
  rulingOf(
    { server: "files", name: "read_file" },
    { path },
    {
      server: {
        default: mode === "deny" ? "approve" : "prompt",
        rules: [{ when: { "/path": pattern }, mode }],
      },
    },
    "approve",
  ).mode;

describe("M60 a rule that denies a path", () => {
  it.each([
    ["a separator at the end", "/srv/*.pem", "/srv/key.pem/"],
    ["two separators at the end", "*.pem", "key.pem//"],
    ["a step to the same folder at the end", "*.pem", "key.pem/./"],
    ["an escaped separator at the end", "*.pem", "key.pem%2F"],
    ["two separators in the beginning", "/srv/secrets/*", "//srv/secrets/x"],
    ["two separators in the middle", "/srv/secrets/*", "/srv//secrets//x"],
    ["a step to the same folder", "/srv/secrets/*", "/srv/./secrets/x"],
    ["backslashes", "/srv/secrets/*", "\\srv\\secrets\\x"],
    ["a backslash that is part of a name", "secrets/*", "a\\b/../secrets/x"],
    ["an escaped separator that is part of a name", "secrets/*", "a%2fb/../secrets/x"],
    ["escaped letters", "https://a.test/secrets/*", "https://a.test/%73ecrets/x"],
    ["letters that are escaped twice", "https://a.test/secrets/*", "https://a.test/%2573ecrets/x"],
    ["the URL of the file", "/srv/secrets/*", "file:///srv/secrets/x"],
    ["the URL of the file with a host", "/srv/secrets/*", "file://localhost/srv/secrets/x"],
    ["the path of the URL", "file:///srv/secrets/*", "/srv/secrets/x"],
    ["capital letters in the host", "https://a.test/secrets/*", "HTTPS://A.test/secrets/x"],
    ["a dot behind the host", "https://a.test/secrets/*", "https://a.test./secrets/x"],
    ["the usual port", "https://a.test/secrets/*", "https://a.test:443/secrets/x"],
    ["no port", "https://a.test:443/secrets/*", "https://a.test/secrets/x"],
    ["a login", "https://a.test/secrets/*", "https://me:pw@a.test/secrets/x"],
    ["one slash", "https://a.test/secrets/*", "https:/a.test/secrets/x"],
    ["backslashes in a URL", "https://a.test/secrets/*", "https:\\\\a.test\\secrets\\x"],
    ["an empty step that a URL can leave", "https://a.test/a/secrets", "https://a.test/a/x//../../secrets"],
    ["parameters of a step", "https://a.test/secrets/*", "https://a.test/secrets;a=b/x"],
    ["a fragment", "https://a.test/secrets", "https://a.test/secrets#x"],
    ["a pattern with a separator at its end", "secrets/", "secrets"],
    ["a pattern with two separators", "/srv//secrets/*", "/srv/secrets/x"],
    ["a pattern with backslashes", "C:\\srv\\*", "C:/srv/x"],
  ])("denies it with %s", (_, pattern, path) => {
    expect(modeOf(pattern, "deny", path)).toBe("deny");
  });

  it.each([
    ["/srv/secrets/*", "/srv/public/x/"],
    ["/srv/secrets/*", "/srv/secretsx//y"],
    ["*/", "a/b"],
    ["*.pem", "a.pem/b"],
    ["https://a.test/secrets/*", "https://b.test/?u=https://a.test"],
  ])("leaves other paths alone: %s and %s", (pattern, path) => {
    expect(modeOf(pattern, "deny", path)).toBe("approve");
  });

  it("denies every spelling of it", () => {
    const separator = fc.constantFrom("/", "//", "/./", "/x/../", "/x//../../y/../", "\\", "%2f", "/%2e/");
    const spelled = (name: string) =>
      fc.array(fc.boolean(), { minLength: name.length, maxLength: name.length }).map((escaped) =>
        name
          .split("")
          .map((one, index) => (escaped[index] ? `%${one.charCodeAt(0).toString(16)}` : one))
          .join(""),
      );
    const end = fc.constantFrom("", "/", "//", "/.", "/./", "\\", "%2F", " ", "\n");
    const path = fc
      .tuple(separator, spelled("srv"), separator, spelled("secrets"), separator, spelled("key"), end)
      // This goes above the folder for those who count no empty steps, so it is another path for them.
      .map((parts) => parts.join("").replaceAll("/x//../../y/../", "/x/y//../../"));
    fc.assert(fc.property(path, (text) => modeOf("/srv/secrets/*", "deny", text) === "deny"));
  });
});

describe("M60 a rule that approves a path", () => {
  it.each([
    ["docs/*", "docs/a//b"],
    ["C:\\docs\\*", "C:\\docs\\a.md"],
    ["https://A.test:443/docs/*", "https://A.test:443/docs/a?b=c"],
    ["https://a.test/*", "https://a.test/docs/a%20b#part"],
    ["git *", "git log --format=%h https://a.test//b"],
    ["*", "..\\..\\etc/"],
  ])("approves what it means in every reading: %s and %s", (pattern, path) => {
    expect(modeOf(pattern, "approve", path)).toBe("approve");
  });

  it("approves no path that somebody reads as one outside", () => {
    const part = fc.constantFrom(
      "docs",
      "..",
      ".",
      "",
      "a",
      "%2e%2e",
      "..\\",
      "%2f",
      "%252e",
      "/",
      "\\",
      "\t",
    );
    const text = fc.array(part, { maxLength: 8 }).map((parts) => `docs/${parts.join("/")}`);
    const isInside = (path: string) => path.startsWith("/r/docs/") || path === "/r/docs";
    fc.assert(
      fc.property(text, (path) => {
        if (modeOf("docs/*", "approve", path) !== "approve") return true;
        const url = new URL(path, "https://a.test/r/").pathname;
        return isInside(url) && isInside(decodeURIComponent(new URL(path, "file:///r/").pathname));
      }),
      { numRuns: 500 },
    );
  });
});
