import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { clientLines } from "../../src/cli/serve/client-lines.ts";
import { formatById } from "../../src/config.ts";
import { notation } from "../../src/config/documents/document.ts";

const machine = { home: "/home/ada", platform: "linux" as const, env: {}, projectRoot: "/home/ada/project" };
const url = "http://127.0.0.1:7420/mcp";
const stdio = ["/usr/bin/node", "/opt/plugboard/main.js", "serve", "--stdio"];
const connection = { url, tokenVariable: "PLUGBOARD_TOKEN", stdio, onlyHere: [] };

describe("M80 the lines that connect a client", () => {
  it("are in each client's own notation, with the token by its variable", async () => {
    const lines = await clientLines(connection, machine);
    const shown = lines.map(({ title, file, text }) => `${title} ${file ?? "$"}\n${text}`);
    const bearer = (token: string) => `{"Authorization":"Bearer ${token}"}`;
    expect(shown).toEqual([
      `Claude Code $\nclaude mcp add-json --scope user plugboard '{"type":"http","url":"${url}","headers":${bearer("${PLUGBOARD_TOKEN}")}}'`,
      `Claude Desktop /home/ada/.config/Claude/claude_desktop_config.json\n{"mcpServers":{"plugboard":{"command":"/usr/bin/node","args":["/opt/plugboard/main.js","serve","--stdio"]}}}`,
      `Codex /home/ada/.codex/config.toml\n[mcp_servers.plugboard]\nurl = "${url}"\nbearer_token_env_var = "PLUGBOARD_TOKEN"`,
      `Cursor /home/ada/.cursor/mcp.json\n{"mcpServers":{"plugboard":{"url":"${url}","headers":${bearer("${env:PLUGBOARD_TOKEN}")}}}}`,
      `VS Code /home/ada/.config/Code/User/mcp.json\n{"servers":{"plugboard":{"type":"http","url":"${url}","headers":${bearer("${input:PLUGBOARD_TOKEN}")}}},"inputs":[{"type":"promptString","id":"PLUGBOARD_TOKEN","description":"PLUGBOARD_TOKEN","password":true}]}`,
      `opencode /home/ada/.config/opencode/opencode.json\n{"mcp":{"plugboard":{"type":"remote","url":"${url}","headers":${bearer("{env:PLUGBOARD_TOKEN}")}}}}`,
      `Gemini CLI /home/ada/.gemini/settings.json\n{"mcpServers":{"plugboard":{"httpUrl":"${url}","headers":${bearer("${PLUGBOARD_TOKEN}")}}}}`,
    ]);
  });

  it("are those of the documentation", async () => {
    const documented = readFileSync("docs/gateway.md", "utf8");
    for (const { id, text } of await clientLines(connection, machine)) {
      // There it is started by npx, and the lines of a TOML file are listed.
      const lines = id === "claude-desktop" ? [] : text.split("\n");
      for (const line of lines) expect(documented).toContain(`\`${line}\``);
    }
  });

  it("mean the gateway when they are read back", async () => {
    for (const { id, text, file } of await clientLines(connection, machine)) {
      if (file === undefined || id === "claude-desktop") continue;
      const format = formatById(id);
      const { parse } = await notation(format.syntax === "jsonc" ? "json" : format.syntax);
      const context = { ...machine, scope: "user" as const, file };
      const { servers } = format.read(parse(text).value, context);
      expect(servers, id).toMatchObject([{ name: "plugboard", config: { url } }]);
      expect(JSON.stringify(servers), id).toContain("PLUGBOARD_TOKEN");
    }
  });

  it("mention no token where none is needed", async () => {
    const lines = await clientLines({ ...connection, tokenVariable: undefined }, machine);
    for (const { text } of lines) expect(text).not.toMatch(/token|Authorization/i);
  });

  it("say which servers a client does not get that starts Plugboard in another folder", async () => {
    const lines = await clientLines({ ...connection, onlyHere: ["notes"] }, machine);
    const notes = lines.flatMap(({ id, note }) => (note === undefined ? [] : [`${id}: ${note}`]));
    expect(notes).toEqual([
      "claude-desktop: It starts a Plugboard of its own, without the servers that only this one has: notes.",
    ]);
  });
});
