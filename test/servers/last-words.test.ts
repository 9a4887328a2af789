import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { createHub } from "../../src/index.ts";
import { createSandbox } from "../sandbox.ts";

const node = process.execPath;
const hasPython = (() => {
  try {
    return execFileSync("python3", ["--version"]).length > 0;
  } catch {
    return false;
  }
})();

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
    ...(hasPython
      ? ([
          ["of a Python exception", ["python3", "-c", "raise ValueError('no key')"], /ValueError: no key$/],
        ] as const)
      : []),
  ] as const)("is reported with the line that explains it: %s", async (_, [command = "", ...args], words) => {
    await using hub = await createHub({ servers: { it: { command, args } } });
    await expect(hub.connect("it")).rejects.toMatchObject({
      code: "server-exited",
      message: expect.stringMatching(words) as string,
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
