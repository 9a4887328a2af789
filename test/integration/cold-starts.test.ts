import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ServerReport } from "../../src/index.ts";
import { commandLine } from "../command-line.ts";
import { rounds } from "../rounds.ts";
import { runNode } from "../run-command.ts";

/** Servers that nobody here wrote, of three generations of the SDK; the calculator brings its own. */
const servers = {
  everything: { command: ["mcp-server-everything"], protocol: "legacy 2025-11-25" },
  filesystem: { command: ["mcp-server-filesystem", "."], protocol: "legacy 2025-11-25" },
  memory: { command: ["mcp-server-memory"], protocol: "legacy 2025-11-25" },
  calculator: { command: ["calculator-mcp"], protocol: "legacy 2024-11-05" },
  notes: { command: ["obsidian-mcp", "serve", "--vault", "mine=$PWD/notes"], protocol: "modern 2026-07-28" },
};
const names = Object.keys(servers);

let root = "";
beforeAll(() => void (root = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-cold-")))));
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }));

/** What an empty home has to say about five servers that start at the same time. */
async function coldStart(round: number): Promise<string[]> {
  const home = join(root, `home-${round}`);
  const cwd = join(home, "work");
  mkdirSync(join(cwd, "notes", ".obsidian"), { recursive: true });
  // `npx` finds what is installed here, so that the registry is not asked.
  symlinkSync(resolve("node_modules"), join(cwd, "node_modules"));
  const path = `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`;
  const plugboard = (...args: string[]) =>
    runNode([commandLine, ...args], { cwd, env: { HOME: home, PATH: path, npm_config_offline: "true" } });
  for (const [name, { command }] of Object.entries(servers))
    expect(
      await plugboard("add", name, "--", "npx", "-y", ...command.map((word) => word.replace("$PWD", cwd))),
    ).toMatchObject({ code: 0 });
  const { out } = await plugboard("status", "--json");
  const reports = (JSON.parse(out) as { servers: ServerReport[] }).servers;
  return reports.map(
    ({ name, era, protocolVersion, message }) => `${name} ${message ?? `${era} ${protocolVersion}`}`,
  );
}

it("M21 five servers from npm are of the same era at every first start", async () => {
  const expected = names.map((name) => `${name} ${servers[name as keyof typeof servers].protocol}`);
  for (let round = 1; round <= rounds(1, 3); round++)
    expect((await coldStart(round)).toSorted()).toEqual(expected.toSorted());
});
