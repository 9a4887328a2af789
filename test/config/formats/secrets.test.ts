import { describe, expect, it } from "vitest";
import { context, formatOf } from "./read-fixture.ts";

describe("M10 secrets in plain text", () => {
  it.each([
    [{ command: "x", env: { GITHUB_TOKEN: "hush-hush" } }, "env.GITHUB_TOKEN", "GITHUB_TOKEN"],
    [{ command: "x", env: { dbPassword: "hush-hush" } }, "env.dbPassword", "DB_PASSWORD"],
    [{ command: "x", args: ["--api-key", "hush-hush"] }, "args[1]", "MY_NOTES_API_KEY"],
    [{ command: "x", args: ["--token=hush-hush"] }, "args[0]", "MY_NOTES_TOKEN"],
    [
      { type: "http", url: "https://a.example", headers: { Authorization: "Bearer hush-hush" } },
      "headers.Authorization",
      "MY_NOTES_TOKEN",
    ],
    [
      { type: "http", url: "https://a.example", headers: { "X-Api-Key": "hush-hush" } },
      "headers.X-Api-Key",
      "MY_NOTES_X_API_KEY",
    ],
    [{ type: "http", url: "https://a.example/mcp?api_key=hush-hush" }, "url", "MY_NOTES_API_KEY"],
  ])("are taken over and flagged without being shown: %j", (entry, field, name) => {
    const [server] = readEntry(entry);
    expect(JSON.stringify(server?.config)).toContain("hush-hush");
    expect(server?.notes).toEqual([
      { kind: "needs-secret", field, message: expect.stringContaining(`plugboard secret set ${name}\``) },
    ]);
    expect(JSON.stringify(server?.notes)).not.toContain("hush-hush");
  });

  it.each([
    { command: "x", env: { GITHUB_TOKEN: "${GITHUB_TOKEN}", LEVEL: "1" } },
    { command: "x", args: ["--api-key", "${KEY}", "--token"] },
    {
      type: "http",
      url: "https://a.example/mcp?api_key=${KEY}",
      headers: { Authorization: "Bearer ${T:-}" },
    },
  ])("are not seen where there is only a reference: %j", (entry) => {
    expect(readEntry(entry)[0]?.notes).toEqual([]);
  });

  it("move from the URL to a header, because a URL must not contain any", () => {
    const [server] = readEntry({ type: "http", url: "https://me:hush%2Fhush@a.example/mcp" });
    const basic = Buffer.from("me:hush/hush").toString("base64");
    expect(server?.config).toEqual({
      type: "http",
      url: "https://a.example/mcp",
      headers: { Authorization: `Basic ${basic}` },
    });
    expect(server?.notes.map(({ kind, field }) => `${kind} ${field}`)).toEqual([
      "translated url",
      "needs-secret headers.Authorization",
    ]);
  });

  it("are not shown as the default of a variable either", () => {
    const file = formatOf("mcporter").read(
      { mcpServers: { a: { command: ["x", "$env:A${B:-hush-hush}"] } } },
      context(),
    );
    expect(file.servers[0]?.notes).toHaveLength(1);
    expect(JSON.stringify(file.servers[0]?.notes)).not.toContain("hush-hush");
  });

  function readEntry(entry: unknown) {
    return formatOf("claude-code").read({ mcpServers: { "my notes": entry } }, context()).servers;
  }
});
