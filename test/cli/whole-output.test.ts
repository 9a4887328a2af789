import { describe, expect, it, onTestFinished } from "vitest";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { startFakeHttp } from "../fixtures/fake/index.ts";

const user = "home/.config/plugboard/config.json";
const lines = Array.from({ length: 450_000 }, (_, index) => `line ${index}`).join("\n");
const rows = Array.from({ length: 4_000 }, (_, id) => ({ id, name: `row ${id}` }));

async function setUp(settings: object = {}, entry: object = {}): Promise<Sandbox> {
  const http = await startFakeHttp({
    tools: ["long", "table", "short"].map((name) => ({ name, inputSchema: { type: "object" } })),
    on: [
      { when: { tool: "long" }, do: [{ answer: { content: [{ type: "text", text: lines }] } }] },
      {
        when: { tool: "table" },
        do: [
          {
            answer: {
              content: [{ type: "text", text: JSON.stringify({ rows }) }],
              structuredContent: { rows },
            },
          },
        ],
      },
      { when: { tool: "short" }, do: [{ answer: { content: [{ type: "text", text: "hello" }] } }] },
    ],
  });
  onTestFinished(() => http.close());
  return createSandbox({ [user]: { ...settings, mcpServers: { it: { url: http.url, ...entry } } } });
}

describe("M45 output is whole where a program reads it", () => {
  it("writes 5 MB to a file or pipe whole, with its size on standard error", async () => {
    const box = await setUp();
    const run = await box.cli(["call", "long"]);
    expect(run.out).toBe(`${lines}\n`);
    expect(run).toMatchObject({ code: 0 });
    expect(run.err).toMatch(/^A large result: 5\.\d MB, about [\d,]+ tokens\. It was written whole\.\n$/);
    expect(await box.cli(["call", "short"])).toMatchObject({ out: "hello\n", err: "" });
  });

  it("cuts it on a terminal, and says how to see the rest", async () => {
    const box = await setUp();
    const run = await box.cli(["call", "long"], { screen: { columns: 80, rows: 24 } });
    expect(run.out.length).toBeLessThan(200_000);
    expect(run.err).toContain("Page through it with `plugboard result r_");
    const whole = await box.cli(["call", "long", "--whole"], { screen: { columns: 80, rows: 24 } });
    expect(whole.out).toBe(`${lines}\n`);
  });

  it.each([
    ["the command line", ["--max-tokens", "1000"], {}, {}, {}],
    ["the environment", [], {}, {}, { PLUGBOARD_MAX_OUTPUT_TOKENS: "1000" }],
    ["the settings", [], { output: { maxTokens: 1000 } }, {}, {}],
    ["the server's entry", [], {}, { output: { maxTokens: 1000 } }, {}],
    ["the tool's entry", [], {}, { output: { tools: { "l*": { maxTokens: 1000 } } } }, {}],
  ])("keeps a limit from %s in a pipe, too", async (_, words, settings, entry, env) => {
    const box = await setUp(settings, entry);
    Object.assign(box.env, env);
    const run = await box.cli(["call", "long", ...words]);
    expect(run.out.length).toBeLessThan(10_000);
    expect(run.err).toContain("The middle of this result of about");
    expect((await box.cli(["call", "long", "--whole"])).out).toBe(`${lines}\n`);
  });

  it("does not take other output settings for a limit", async () => {
    const box = await setUp({ output: { warnTokens: 5, check: "off" } });
    const run = await box.cli(["call", "long"]);
    expect(run.out).toBe(`${lines}\n`);
  });

  it("carries structured content in --json, also if it is large", async () => {
    const box = await setUp();
    const run = await box.cli(["call", "table", "--json"]);
    expect(run.json["structuredContent"]).toEqual({ rows });
    expect(run.err).toMatch(/^A large result: \d+ KB/);
    const onScreen = await box.cli(["call", "table", "--json"], { screen: { columns: 80, rows: 24 } });
    expect(onScreen.json["structuredContent"]).toEqual({ rows });
  });
});
