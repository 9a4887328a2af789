import { describe, expect, it } from "vitest";
import { createHub } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { lacks } from "../machine.ts";
import { createSandbox } from "../sandbox.ts";

const node = process.execPath;

async function expectReport(program: readonly string[], words: RegExp): Promise<void> {
  const [command = "", ...args] = program;
  await using hub = await createHub({ servers: { it: { command, args } } });
  await expect(hub.connect("it")).rejects.toMatchObject({
    code: "server-exited",
    message: expect.stringMatching(words) as string,
  });
}

describe("M23 a program that crashes", () => {
  it.each([
    [
      "of a missing module",
      [node, "-e", "require('./no-such-module')"],
      /Error: Cannot find module '\.\/no-such-module'$/,
    ],
    ["of a mistake in its source", [node, "-e", "const = 3"], /SyntaxError: Unexpected token '='$/],
    [
      "of an error with properties",
      [node, "-e", "throw Object.assign(new Error('no key'), { code: 'X' })"],
      /Error: no key$/,
    ],
    [
      "because a shell does not find it",
      ["sh", "-c", "no-such-program"],
      /no-such-program: (?:command )?not found$/,
    ],
  ] as const)("is reported with the line that explains it: %s", async (_, program, words) => {
    await expectReport(program, words);
  });

  it.skipIf(lacks("python"))(
    "is reported with the line that explains it: of a Python exception",
    async () => {
      await expectReport(["python3", "-c", "raise ValueError('no key')"], /ValueError: no key$/);
    },
  );

  it("in silence is reported with what it was started with, without secrets, and with no pointer to its logs", async () => {
    const args = ["-e", "process.exit(1)", "--", "--token", "hunter2"];
    const box = createSandbox({
      "home/.config/plugboard/config.json": { mcpServers: { it: { command: node, args } } },
    });
    const { err } = await box.cli(["call", "it.tool"]);
    expect(err).toContain("exited with code 1. It printed nothing.");
    expect(err.replaceAll(/\s+/g, " ")).toMatch(/It was started with: \S*node .*--token/);
    expect(err).not.toMatch(/hunter2|plugboard logs/);
  });

  it("is reported with what it printed where its messages belong, if that is all", async () => {
    const args = ["-e", "console.log('Error: no key'); process.exit(1)"];
    await using hub = await createHub({ servers: { it: { command: node, args } } });
    await expect(hub.connect("it")).rejects.toMatchObject({
      message: '"it" exited with code 1. It printed: Error: no key',
    });
  });

  it.each([
    ["notifications/message", { level: "error", data: "Error: no key" }],
    ["log", { level: 50, message: "Error: no key" }],
  ])("is reported with the error that it sent as a message, if that is all: %s", async (method, params) => {
    const line = JSON.stringify({ jsonrpc: "2.0", method, params });
    const args = ["-e", `console.log(${JSON.stringify(line)}); process.exit(1)`];
    await using hub = await createHub({ servers: { it: { command: node, args } } });
    await expect(hub.connect("it")).rejects.toMatchObject({
      message: '"it" exited with code 1. It printed: Error: no key',
    });
  });

  it("has its list of issues put into words, also in its answers", async () => {
    const issue = { code: "invalid_type", path: ["API_KEY"], message: "Required" };
    const message = `MCP error -32603: ${JSON.stringify([issue], null, 2)}`;
    const script = {
      versions: "legacy" as const,
      on: [{ when: { method: "initialize" }, do: [{ error: { code: -32603, message } }] }],
    };
    await using hub = await createHub({ servers: { it: fakeStdio(script) } });
    await expect(hub.connect("it")).rejects.toMatchObject({
      message: expect.stringContaining("MCP error -32603: API_KEY is missing") as string,
      hint: expect.stringContaining("the server's own answer") as string,
    });
  });

  it("is shown so by `status` and `doctor`", async () => {
    const args = ["-e", "require('./no-such-module')"];
    const box = createSandbox({
      "home/.config/plugboard/config.json": { mcpServers: { it: { command: node, args } } },
    });
    for (const verb of [["status"], ["doctor", "--connect"]]) {
      const { out } = await box.cli(verb);
      expect(out).toContain("Error: Cannot find module './no-such-module'");
      expect(out).not.toMatch(/Node\.js v|│ +at /);
    }
  });
});
