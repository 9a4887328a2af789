import { describe, expect, it } from "vitest";
import { isSafeUrl } from "../../src/lib/safe-url.ts";

describe("a URL that a person is shown or sent to", () => {
  it.each([
    "https://login.example/authorize?client_id=1",
    "https://login.example:8443/",
    "http://localhost:3000/callback",
    "http://app.localhost/",
    "http://127.0.0.1:9/",
    "http://127.1.2.3/",
    "http://[::1]:9/",
    "https://[::ffff:127.0.0.1]/",
  ])("may be %s", (address) => {
    expect(isSafeUrl(address)).toBe(true);
    expect(isSafeUrl(new URL(address))).toBe(true);
  });

  it.each([
    "http://login.example/",
    "http://localhost.example/",
    "http://127.0.0.1.example/",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    "ftp://localhost/",
    "vscode://open",
    "https://user:password@login.example/",
    "https://login.example@evil.example/",
    "//login.example/",
    "login.example",
    "",
  ])("is never %s", (address) => {
    expect(isSafeUrl(address)).toBe(false);
  });

  it.each(["http://localhost:3000/", "https://127.0.0.1/", "http://[::]/", "http://0.0.0.0/"])(
    "is not %s where this machine is none of its business",
    (address) => {
      expect(isSafeUrl(address, false)).toBe(false);
    },
  );
});
