import { join } from "node:path";
import { expect, it } from "vitest";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

it("M80 a gateway gives memory back after a burst of requests", async () => {
  const program = join(import.meta.dirname, "programs", "burst.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [program], { timeout: 50_000 });
  expect(stdout).toBe("returned\n");
});
