import { gatewayName, script } from "./client.ts";
import type { CompatClient } from "./client.ts";

export const inspector: CompatClient = {
  id: "inspector",
  title: "MCP Inspector",
  package: "@modelcontextprotocol/inspector",
  program: {
    name: "mcp-inspector",
    command: script("@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
  },
  hasModel: false,
  note: "`mcp-inspector --cli` with `--protocol-era auto`; without it, it speaks a legacy revision",
  async use({ scene, target, tool }) {
    const entry =
      target.transport === "stdio"
        ? { command: target.command[0], args: target.command.slice(1) }
        : {
            type: "streamable-http",
            url: target.url,
            headers: { Authorization: `Bearer ${scene.env[target.tokenVariable]}` },
          };
    scene.write("servers.json", { mcpServers: { [gatewayName]: entry } });
    const gateway = [
      "--config",
      `${scene.home}/servers.json`,
      "--server",
      gatewayName,
      "--protocol-era",
      "auto",
    ];
    const ask = (...words: string[]) =>
      scene.run(["mcp-inspector", "--cli", ...gateway, "--method", ...words]);
    const list = await ask("tools/list");
    const call = await ask(
      "tools/call",
      "--tool-name",
      tool.name,
      "--tool-args-json",
      JSON.stringify(tool.args),
    );
    return {
      configured: "an entry in a file for `--config`",
      listed: list.out.includes(`"${tool.name}"`),
      answer: call.out,
    };
  },
};
