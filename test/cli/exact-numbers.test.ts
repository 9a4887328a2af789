import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { anthropicTools } from "../../src/adapters/anthropic.ts";
import { openAiChatTools } from "../../src/adapters/openai.ts";
import { createSandbox } from "../sandbox.ts";
import { openHub } from "../servers/hub-fixture.ts";

const big = "12345678901234567891";
const exact = { command: process.execPath, args: [join(import.meta.dirname, "programs", "exact-server.ts")] };

function setUp() {
  return createSandbox({ "home/.config/plugboard/config.json": { mcpServers: { it: exact } } });
}

describe("M43 numbers that JavaScript cannot hold, such as long ids", () => {
  it.each([
    ["key=value", [`id=${big}`], `{"id":${big}}`],
    ["a flag", ["--id", big], `{"id":${big}}`],
    ["JSON of one value", [`id:=${big}`], `{"id":${big}}`],
    ["one object", [`{"id":${big},"ids":[${big}]}`], `{"id":${big},"ids":[${big}]}`],
    ["a list", [`ids=${big},1,-${big}`], `{"ids":[${big},1,-${big}]}`],
    ["a list item by item", [`ids=${big}`, "ids=2", `ids=${big}`], `{"ids":[${big},2,${big}]}`],
    [
      "a place inside of another",
      [`extra.id:=${big}`, `extra.n=${big}`],
      `{"extra":{"id":${big},"n":${big}}}`,
    ],
    ["with a sign", [`id=+${big}`], `{"id":${big}}`],
    ["beside a corrected one", [`{"id":${big},"count":"5"}`], `{"id":${big},"count":5}`],
  ])("reach the server as they were typed: %s", async (_, words, sent) => {
    const { out } = await setUp().cli(["call", "it.echo", ...words]);
    expect(out).toContain(`"arguments":${sent}`);
  });

  it("are printed as the server sent them", async () => {
    const sandbox = setUp();
    expect((await sandbox.cli(["call", "it.big"])).out).toBe(`id    ${big}\nlist\n  - ${big}\n`);
    expect((await sandbox.cli(["call", "it.big", "--json"])).out).toContain(`"id": ${big}`);
    expect((await sandbox.cli(["tools", "it.big", "--json"])).out).toContain(`"maximum": ${big}`);
  });
});

describe("M64 numbers that JavaScript cannot hold", () => {
  it("reach the server as a model wrote them, and the model as the server did", async () => {
    await using hub = await openHub({ it: exact });
    const { answer } = await openAiChatTools(hub);
    const call = (name: string, args: string) => ({
      id: "1",
      type: "function" as const,
      function: { name: `mcp__it__${name}`, arguments: args },
    });
    const said = await answer({ tool_calls: [call("echo", `{"id":${big},"count":"5"}`), call("big", "{}")] });
    const echoed = said[0]?.content as string;
    expect(JSON.parse(echoed)).toBeDefined();
    expect(echoed).toContain(`"arguments":{"id":${big},"count":5}`);
    expect(said[1]?.content).toBe(`{"id":${big},"list":[${big}]}`);
    const { call: ask } = await anthropicTools(hub);
    const shown = await ask({ id: "1", name: "mcp__it__big", input: {} });
    expect(shown.content).toBe(`{"id":${big},"list":[${big}]}`);
  });
});
