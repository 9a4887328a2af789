import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");

it(
  "M88 does what the official conformance suite wants of a client, in both releases and both eras",
  { timeout: 600_000 },
  () => conforms("client"),
);

it(
  "M88 serves as the official conformance suite wants, in both releases, before servers of both eras",
  { timeout: 600_000 },
  () => conforms("server"),
);

async function conforms(as: "client" | "server"): Promise<void> {
  const run = promisify(execFile)(process.execPath, ["scripts/conformance/run.ts", "--as", as], {
    cwd: root,
  });
  const { stdout } = await run.catch((error: Error & { stdout?: string }) => {
    throw new Error(error.stdout || error.message);
  });
  const documented = await readFile(join(root, "docs", "conformance.md"), "utf8");
  for (const line of stdout.trimEnd().split("\n")) expect(documented).toContain(line);
}
