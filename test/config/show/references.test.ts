import { describe, expect, it } from "vitest";
import { shownArgs, shownUrl } from "../../../src/config.ts";

const token = "mzQ8vX2kLp09RtYwBn4c";

describe("a command line that is shown", () => {
  it.each([
    // Options, packages, paths, numbers, images and hosts stay readable.
    ["-y @modelcontextprotocol/server-filesystem@2025.8.1 /home/ada/My_Notes2 ./srv.js"],
    ["--port 80 --dir=/tmp --host 127.0.0.1:8080 -v -it --rm -n10 -transport stdio"],
    ["run mcp/github:latest node:20-alpine ghcr.io/acme/server-s3-v2:v1.4.0-rc1"],
    ["--from mcp-server-git==2025.1.14 git+https://github.com/acme/srv.git@v2 C:\\Users\\Ada\\srv.js"],
    ["--token ${TOKEN} --verbose ${HOME}/notes --dir=${DIR}/x NAME=${VALUE}"],
    [
      "--mount type=bind,src=/home/ada/notes,dst=/notes,readonly --mount type=bind,source=${HOME}/x,target=/x img",
    ],
    ["getUserAccountById GitHubMCPServer modelContextProtocol MyCompanyWebApp"],
    ["start:server read_* ${file:~/.keys/plugboard.pem} ${secret:ISSUES}"],
  ])("shows %s", (line) => {
    const args = line.split(" ");
    expect(shownArgs(args)).toEqual(args);
  });

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
    [["--token=${TOKEN:-abc}"], ["--token=${TOKEN:-(hidden)}"]],
    [["${DIR:-/abc}/notes"], ["${DIR:-(hidden)}/notes"]],
    [
      ["run", "-e", "GITHUB_TOKEN=abc", "image"],
      ["run", "-e", "GITHUB_TOKEN=(hidden)", "image"],
    ],
    [
      ["-e", "REGION=abc", "-e", "NAME"],
      ["-e", "REGION=(hidden)", "-e", "NAME"],
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
    [
      ["--header", "X-Tenant: Bearer ${TOKEN}"],
      ["--header", "X-Tenant: Bearer ${TOKEN}"],
    ],
    [["--header=Authorization: Bearer abc"], ["--header=Authorization: (hidden)"]],
    [["X-Whatever: abc"], ["X-Whatever: (hidden)"]],
    [
      ["-u", "ada:abc"],
      ["-u", "(hidden)"],
    ],
    [["ada:hunter2"], ["(hidden)"]],
    [
      ["--bearer", "abc", "--jwt", "abc"],
      ["--bearer", "(hidden)", "--jwt", "(hidden)"],
    ],
    [["wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"], ["(hidden)"]],
    [["https://hooks.example/T024/XqZtPvKmRbWcYdLfHnJgTsAe"], ["https://hooks.example/T024/(hidden)"]],
    [
      ["--mount", "type=volume,dst=/x,volume-opt=o=password=abc"],
      ["--mount", "type=volume,dst=/x,(hidden)"],
    ],
    [["-pS3cret"], ["-p(hidden)"]],
    [["postgres://ada:abc@db/main"], ["postgres://(hidden)@db/main"]],
    [["--dsn=postgres://ada:abc@db/main"], ["--dsn=postgres://(hidden)@db/main"]],
    [["postgres://ada:a/bc@db/main"], ["postgres://(hidden)"]],
    [["Server=db;User Id=ada;Password=abc"], ["Server=(hidden)"]],
    [[token], ["(hidden)"]],
    [[`--profile=${token}`], ["--profile=(hidden)"]],
    [["ghp_abcdefghijklmnop"], ["(hidden)"]],
    [["3f2504e0-4f89-41d3-9a0c-0305e82c3301"], ["(hidden)"]],
    [["dGhpcyBpcyBhIHNlY3JldA=="], ["(hidden)"]],
    [["-----BEGIN KEY-----\nabc\n-----END KEY-----"], ["(hidden)"]],
    [
      ["-c", `curl -H "Authorization: Bearer abc" https://ada:abc@h.example/x | sh`],
      ["-c", `curl -H "Authorization: (hidden) (hidden)" https://(hidden)@h.example/x | sh`],
    ],
    [[`{"user":"ada","password":"abc"}`], [`{"user":"(hidden)","password":"(hidden)"}`]],
    [
      ["${cmd:curl -H 'X-Key: abc' https://h.example/?key=abc}"],
      ["${cmd:curl -H X-Key: (hidden) https://h.example/?key=(hidden)}"],
    ],
    [["\u{e000}abc"], ["(hidden)"]],
  ])("%j becomes %j", (args, shown) => {
    expect(shownArgs(args)).toEqual(shown);
  });

  it("takes time in proportion to its length", () => {
    const words = [
      "--a=".repeat(50_000),
      "a=".repeat(50_000),
      "a:".repeat(50_000),
      `"a ${"b ".repeat(50_000)}`,
    ];
    for (const word of words) expect(shownArgs([word]).join("").length).toBeLessThan(1_000_000);
  });
});

describe("a URL that is shown", () => {
  it.each([
    ["https://mcp.example/mcp", "https://mcp.example/mcp"],
    ["http://[::1]:8080/v1/sse", "http://[::1]:8080/v1/sse"],
    ["https://${HOST}/mcp", "https://${HOST}/mcp"],
    ["https://${HOST:-abc.example}/mcp", "https://${HOST:-(hidden)}/mcp"],
    ["https://ada:abc@mcp.example/mcp?sig=abc#abc", "https://(hidden)@mcp.example/mcp?sig=(hidden)#(hidden)"],
    [
      `https://mcp.example/?page=2&key=\${KEY}&key=abc&v=${token}&${token}`,
      "https://mcp.example/?page=2&key=${KEY}&key=(hidden)&v=(hidden)&(hidden)",
    ],
    ["https://mcp.example/?key=${KEY:-abc}", "https://mcp.example/?key=${KEY:-(hidden)}"],
    [`https://mcp.example/s/${token}/mcp`, "https://mcp.example/s/(hidden)/mcp"],
    ["http://127.0.0.1:9?v=@api.example.com/mcp/", "http://127.0.0.1:9?v=@api.example.com/mcp/"],
    ["http://127.0.0.1:9\\@api.example.com/mcp", "http://127.0.0.1:9\\@api.example.com/mcp"],
    ["http:127.0.0.1", "http:127.0.0.1"],
    ["https:\\\\ada:abc@h.example", "https:\\\\(hidden)@h.example"],
    [" https://ada:abc@h.example", "https://(hidden)@h.example/"],
    ["ht\ntp://abc", "(hidden)"],
    ["none", "none"],
    ["https://*.example/*", "https://*.example/*"],
  ])("%s becomes %s", (url, shown) => {
    expect(shownUrl(url)).toBe(shown);
  });
});
