import { describe, expect, it } from "vitest";
import { shownArgs, shownUrl } from "../../src/config/show.ts";

describe("a command line that is shown", () => {
  it.each([
    [
      ["--token", "abc"],
      ["--token", "(hidden)"],
    ],
    [["--token=abc=="], ["--token=(hidden)"]],
    [
      ["--token", "--verbose"],
      ["--token", "--verbose"],
    ],
    [
      ["--token", "${TOKEN}"],
      ["--token", "${TOKEN}"],
    ],
    [["--token=${TOKEN:-abc}"], ["--token=${TOKEN:-(hidden)}"]],
    [
      ["run", "-e", "GITHUB_TOKEN=abc", "image"],
      ["run", "-e", "GITHUB_TOKEN=(hidden)", "image"],
    ],
    [["--env=GITHUB_TOKEN=abc"], ["--env=GITHUB_TOKEN=(hidden)"]],
    [
      ["--header", "Authorization:Bearer abc"],
      ["--header", "Authorization:(hidden)"],
    ],
    [
      ["-H", "X-Api-Key: abc"],
      ["-H", "X-Api-Key: (hidden)"],
    ],
    [["--header=Authorization: Bearer abc"], ["--header=Authorization: (hidden)"]],
    [["authelia:4"], ["authelia:4"]],
    [["postgres://ada:abc@db/main"], ["postgres://(hidden)@db/main"]],
    [["https://mcp.example/?api_key=abc&page=2"], ["https://mcp.example/?api_key=(hidden)&page=2"]],
    [
      ["--port", "80", "--dir=/tmp"],
      ["--port", "80", "--dir=/tmp"],
    ],
  ])("%j becomes %j", (args, shown) => {
    expect(shownArgs(args)).toEqual(shown);
  });
});

describe("a URL that is shown", () => {
  it("hides the password and credential-like parameters", () => {
    expect(shownUrl("https://ada:abc@mcp.example/mcp?sig=abc&code=abc&page=2#top")).toBe(
      "https://(hidden)@mcp.example/mcp?sig=(hidden)&code=(hidden)&page=2#top",
    );
  });
});
