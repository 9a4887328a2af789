import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { runNode } from "../run-command.ts";

describe("`npm test` on a machine that has nothing but Node.js", () => {
  const needsTmux = "test/integration/lock-terminal.test.ts";
  const test = async (...args: string[]) => {
    const words = ["scripts/test.ts", "--project=integration", needsTmux, ...args];
    const { code, out } = await runNode(words, { env: { PATH: dirname(process.execPath) } });
    return { code, lines: out.trimEnd().split("\n") };
  };

  it("skips by name what needs another program, and ends with what was not tested and how to get it", async () => {
    const { code, lines } = await test();
    expect(code).toBe(0);
    expect(lines.at(-2)).toMatch(
      /Not tested: .*what a terminal shows \(tmux\).* On Debian: apt-get install .*\btmux\b/,
    );
    expect(lines.at(-1)).toBe("0 passed, 0 failed, 2 skipped");
  });

  it("fails where nothing may be skipped, and names it", async () => {
    const { code, lines } = await test("--complete");
    expect(code).toBe(1);
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}M52 a changed tool on a terminal is shown/));
    expect(lines.at(-1)).toBe("0 passed, 2 failed");
  });
});
