import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { serviceNames, tasks } from "../../compat/many-tools/catalog.ts";
import { proofOf } from "../../compat/many-tools/server.ts";
import { repository } from "../../compat/scene.ts";
import { estimateTokens } from "../../src/calls/output/token-estimate.ts";
import { startServing } from "../cli/serving.ts";
import { createSandbox } from "../sandbox.ts";

const program = join(repository, "compat/many-tools/server.ts");
const services = Object.fromEntries(
  serviceNames.map((name) => [name, { command: process.execPath, args: [program, name, "10000"] }]),
);

describe("M50 10,000 tools behind `plugboard serve`", () => {
  it("cost less than 400 tokens, and each is found, described and called, now and after a restart", async () => {
    const box = createSandbox({ "home/.config/plugboard/config.json": { mcpServers: services } });
    const wanted = tasks.flatMap(({ steps }) => steps);
    for (const era of ["legacy", "modern"] as const) {
      const serving = await startServing(box);
      const client = await serving.open(era);
      const ask = async (tool: string, args: Record<string, unknown>) => {
        const { content } = await client.result(client.call(tool, args));
        return String((content as { text: string }[])[0]?.text);
      };
      const { tools } = await client.result(client.request("tools/list"));
      expect(tools).toHaveLength(3);
      expect(estimateTokens(JSON.stringify(tools))).toBeLessThan(400);
      for (const { service, tool, query, args } of wanted) {
        const name = `${service}__${tool.name}`;
        let found = await ask("search_tools", { query });
        // On a first start the lists come one after the other.
        for (let turn = 0; turn < 20 && found.includes("Not searched"); turn++)
          found = await ask("search_tools", { query });
        expect(found.split("\n").slice(0, 3).join("\n")).toContain(`${name}(`);
        expect(JSON.parse(await ask("describe_tools", { names: [name] }))).toMatchObject({ name });
        expect(await ask("call_tool", { name, arguments: args })).toBe(proofOf(tool.name, args));
      }
      await serving.logs("All tools are deferred");
      expect((await serving.stop()).code).toBe(0);
    }
  }, 120_000);
});
