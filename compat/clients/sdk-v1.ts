import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CompatClient, Visit } from "./client.ts";

export const sdkV1: CompatClient = {
  id: "sdk-v1",
  title: "TypeScript SDK v1",
  package: "@modelcontextprotocol/sdk",
  hasModel: false,
  async use(visit) {
    const client = new Client({ name: "compat-sdk-v1", version: "1.0.0" });
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
