import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { isLong } from "../rounds.ts";

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

/** One set of each release of the suite and of each era; `npm run test:long` runs all of them. */
const newest = ["0.1.16 all", "0.2.0-alpha.12 all at 2026-07-28"];
const representative = {
  client: newest,
  server: [
    `legacy server behind the gateway, ${newest[0]}`,
    `modern server behind the gateway, ${newest[1]}`,
  ],
};

async function conforms(as: "client" | "server"): Promise<void> {
  const only = isLong ? [] : representative[as].flatMap((name) => ["--only", name]);
  const run = promisify(execFile)(process.execPath, ["scripts/conformance/run.ts", "--as", as, ...only], {
    cwd: root,
  });
  const { stdout } = await run.catch((error: Error & { stdout?: string }) => {
    throw new Error(error.stdout || error.message);
  });
  const documented = await readFile(join(root, "docs", "conformance.md"), "utf8");
  for (const line of stdout.trimEnd().split("\n")) expect(documented).toContain(line);
}
