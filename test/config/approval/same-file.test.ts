import { describe, expect, it } from "vitest";
import { holds } from "../../../src/config/approval/conditions.ts";

const certainty = (pattern: string, path: string) => holds({ "/path": pattern }, { path });

describe("M60 a rule about a file", () => {
  it.each([
    ["in capitals", "/srv/secrets/*", "/srv/SECRETS/x"],
    ["in capitals, by its end", "*.pem", "key.PEM"],
    ["with the long s, which systems fold", "*/.ssh/*", "/home/ada/.\u017f\u017fh/id"],
    ["in another form of Unicode", "/srv/caf\u00e9/*", "/srv/cafe\u0301/x"],
    ["with a character that some file systems leave out", "/srv/secrets/*", "/srv/sec\u200drets/x"],
    ["with a dot at the end, as Windows reads it", "*.pem", "key.pem."],
    ["with dots and spaces in the middle", "/srv/secrets/*", "/srv/secrets . ./x"],
    ["by the stream that is its content", "*.pem", "key.pem::$DATA"],
    ["by the stream of a folder", "/srv/secrets/*", "/srv/secrets:$I30:$INDEX_ALLOCATION/x"],
    ["by a device path", "C:\\srv\\*", "\\\\?\\C:\\srv\\x"],
    ["by the URL of a drive", "C:\\srv\\*", "file:///C:/srv/x"],
    ["with a NUL, where some stop reading", "*.pem", "key.pem\0.txt"],
    ["with an escaped NUL", "*.pem", "key.pem%00.txt"],
    ["by a URL with a query", "/srv/*.pem", "file:///srv/key.pem?x"],
    ["by a URL with a host", "/srv/*.pem", "file://other/srv/key.pem"],
    ["by the root of a process", "/srv/secrets/*", "/proc/self/root/srv/secrets/x"],
    ["by the second name of a folder", "/etc/*", "/private/etc/passwd"],
    ["by more steps up than there can be", "/srv/secrets/*", "../../../../../../srv/secrets/x"],
  ])("matches it maybe, and so forbids it: %s", (_, pattern, path) => {
    expect(certainty(pattern, path)).toBe("maybe");
  });

  it("matches a URL for what it is without an empty query", () => {
    expect(certainty("https://a.test/admin", "https://a.test/admin?")).toBe("maybe");
  });

  it.each([
    ["git branch -D *", "git branch -d feature/x"],
    ["PROD", "prod"],
    ["-D", "-d"],
    ["/srv/secrets/*", "/srv/secrets2/x"],
    ["*.pem", "pem.txt"],
    ["/etc/*", "/home/etc/x"],
  ])("means what it says otherwise: %s and %s", (pattern, path) => {
    expect(certainty(pattern, path)).toBe("no");
  });

  it("approves for certain what it did", () => {
    expect(certainty("../docs/*", "../docs/a.md")).toBe("yes");
    expect(certainty("Docs/*", "Docs/A.md")).toBe("yes");
  });
});
