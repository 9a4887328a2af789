import { describe, expect, it } from "vitest";
import { addressOf, hostLine, shownUrl } from "../../src/config.ts";

describe("M11 the host of a URL", () => {
  it.each([
    ["https://api.example.com/mcp", "api.example.com"],
    ["http://127.0.0.1:9?v=@api.example.com/mcp/", "127.0.0.1:9"],
    ["http://127.0.0.1:9#@api.example.com/mcp/", "127.0.0.1:9"],
    ["https://api.example.com@evil.example/mcp", "evil.example"],
    ["https://api.example.com:443@evil.example:8443/mcp", "evil.example:8443"],
    ["https://evil.example\\@api.example.com/mcp", "evil.example"],
    ["https:\\\\evil.example/mcp", "evil.example"],
    ["https:evil.example/mcp", "evil.example"],
    ["ht\ttps://ev\til.example/\t@api.example.com", "evil.example"],
    ["https://аpi.example.com/mcp", "xn--pi-6kc.example.com"],
    ["http://2130706433/mcp", "127.0.0.1"],
    ["http://0x7f.1/mcp", "127.0.0.1"],
    ["https://api.example.com。evil.example/", "api.example.com.evil.example"],
    ["https://${HOST}/mcp", "(chosen by ${HOST})"],
    ["https://${HOST:-api.example.com}/mcp", "api.example.com (unless ${HOST} is set)"],
    ["https://${USER}@api.example.com/mcp", "(chosen by ${USER})"],
    ["https://${A:-${B}}/mcp", "(chosen by ${A})"],
    ["https://evil.example/${PATH_TO}@api.example.com", "evil.example"],
    ["${URL}", "(chosen by ${URL})"],
    ["no URL", "(not a valid URL)"],
  ])("%j is %j", (url, host) => {
    expect(hostLine(addressOf(url))).toBe(host);
  });

  it.each([
    ["https://api.example.com/@scope/mcp", []],
    ["https://API.example.com:443/mcp", []],
    ["https://[::1]:9/mcp", []],
    ["http://127.0.0.1:9?v=@api.example.com/", [expect.stringContaining("after `@` is not the host")]],
    ["https://api.example.com@evil.example/", [expect.stringContaining("is a user name, not the host")]],
    ["https://аpi.example.com/", [expect.stringContaining("letters that can look like others")]],
    ["http://2130706433/", [expect.stringContaining("in another way")]],
    ["https:\\\\evil.example/", [expect.stringContaining("backslash")]],
    ["https://ev\til.example/", [expect.stringContaining("invisible characters")]],
    ["https://example.com/a\u{3164}", [expect.stringContaining("invisible characters")]],
  ])("a reader is warned about %j only if it deceives", (url, warnings) => {
    expect(addressOf(url).deceptions).toEqual(warnings);
  });
});

describe("a URL that is shown", () => {
  it.each([
    ["https://ada:abc@mcp.example/", "https://(hidden)@mcp.example/"],
    ["https://a@b@mcp.example/", "https://(hidden)@mcp.example/"],
    ["https:\\\\ada:abc@mcp.example", "https:\\\\(hidden)@mcp.example"],
    ["https://${file:/run/user}:abc@mcp.example/", "https://${file:/run/user}(hidden)@mcp.example/"],
    ["http://127.0.0.1:9?v=@api.example.com/", "http://127.0.0.1:9?v=@api.example.com/"],
    ["http://127.0.0.1:9/a@b", "http://127.0.0.1:9/a@b"],
  ])("%j hides what a server would get as user name and password, never the host: %j", (url, shown) => {
    expect(shownUrl(url)).toBe(shown);
  });
});
