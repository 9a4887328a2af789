import { describe, expect, it } from "vitest";
import { readSecretValue } from "../../src/cli/terminal/secret-value.ts";
import type { Terminal } from "../../src/cli/terminal/terminal.ts";

describe("the question for a secret", () => {
  it("ends the command like Ctrl-C when it is cancelled", async () => {
    const terminal = {
      env: {},
      ask: { password: async () => undefined },
      catchSignals: () => ({ signal: new AbortController().signal, [Symbol.dispose]: () => undefined }),
    } as unknown as Terminal;
    const read = readSecretValue("TOKEN", { input: [], fromEnv: undefined }, terminal);
    await expect(read).rejects.toMatchObject({ exitCode: 130, note: "Cancelled." });
  });
});
