import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { LogLine, Script } from "./script.ts";

/**
 * How to start a stdio fake, in the shape of a server entry. The cache takes 50 ms off every start but the first;
 * leave `env` out where the environment itself is tested.
 */
export function fakeStdio(script: Script = {}): {
  command: string;
  args: string[];
  env: Record<string, string>;
} {
  return {
    command: process.execPath,
    args: [fileURLToPath(new URL("fake-stdio.ts", import.meta.url)), JSON.stringify(script)],
    env: { NODE_COMPILE_CACHE: join(tmpdir(), "plugboard-fake-server") },
  };
}

/** What the stdio fakes with this `log` have seen so far, whichever process it was. */
export function readFakeLog(path: string): LogLine[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as LogLine);
}
