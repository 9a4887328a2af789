import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { CompatClient, Visit } from "./client.ts";

export const sdkV2: CompatClient = {
  id: "sdk-v2",
  title: "TypeScript SDK v2",
  package: "@modelcontextprotocol/client",
  hasModel: false,
  note: 'with `versionNegotiation: { mode: "auto" }`; without it, it speaks a legacy revision',
  async use(visit) {
    const client = new Client(
      { name: "compat-sdk-v2", version: "1.0.0" },
      { versionNegotiation: { mode: "auto" } },
    );
    await client.connect(transportTo(visit));
    try {
      const { tools } = await client.listTools();
      const result = await client.callTool({ name: visit.tool.name, arguments: visit.tool.args });
      return {
        configured: "`client.connect`",
        listed: tools.some(({ name }) => name === visit.tool.name),
        answer: JSON.stringify(result.content),
      };
    } finally {
      await client.close();
    }
  },
};

function transportTo({ scene, target }: Visit) {
  if (target.transport === "stdio") {
    const [command = "", ...args] = target.command;
    return new StdioClientTransport({ command, args, env: scene.env, cwd: scene.project, stderr: "ignore" });
  }
  const headers = { authorization: `Bearer ${scene.env[target.tokenVariable]}` };
  return new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers } });
}
