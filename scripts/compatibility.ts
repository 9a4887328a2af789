/**
 * Starts third-party servers from npm through the built command line: `plugboard add NAME -- npx -y PACKAGE@VERSION` and
 * `plugboard status NAME`, three times from nothing. What connects is used once more: its lists, and one harmless call.
 * Updates `compatibility/results.json` and docs/compatibility.md, and fails if a server behaves in another way than
 * `compatibility/servers.ts` says. Only npm uses the network. Requires git, tmux and `npm run build`; takes half an hour.
 * Run: node scripts/compatibility.ts [--cache <folder>] [server…]; the findings of the others stay. With a cache that is
 * kept, npm does not download again what an earlier run did. With `--page` only the page is written again.
 */
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { atOnce } from "./compatibility/at-once.ts";
import { createBench, main } from "./compatibility/bench.ts";
import type { Bench } from "./compatibility/bench.ts";
import { callTable, failureTable, serverTable, withSection } from "./compatibility/page.ts";
import type { Finding } from "./compatibility/page.ts";
import { coldRound, complaint, roundWords } from "./compatibility/rounds.ts";
import type { Round } from "./compatibility/rounds.ts";
import { candidates } from "./compatibility/servers.ts";
import type { Candidate } from "./compatibility/servers.ts";
import { visit } from "./compatibility/visit.ts";

const run = promisify(execFile);
const page = join(import.meta.dirname, "..", "docs", "compatibility.md");
const results = join(import.meta.dirname, "compatibility", "results.json");
const inTerminal = [
  "everything",
  "filesystem",
  "memory",
  "playwright",
  "context7",
  "angular",
  "figma",
  "mysql",
];
const rounds = 3;

const { values, positionals: names } = parseArgs({
  options: { cache: { type: "string" }, page: { type: "boolean" } },
  allowPositionals: true,
});
const chosen = candidates.filter(({ name }) => !values.page && (names.length === 0 || names.includes(name)));
await using bench = await createBench(values.cache);
const found = await coldRounds(bench);
const visited = await atOnce(chosen, (candidate) => use(bench, candidate));
const before = JSON.parse(await readFile(results, "utf8").catch(() => "[]")) as Finding[];
const now = new Map(visited.map((finding) => [finding.name, finding]));
const findings = candidates.flatMap(({ name }) => {
  const finding = now.get(name) ?? before.find((one) => one.name === name);
  return finding ? [finding] : [];
});
await writeFile(results, `${JSON.stringify(findings, null, 2)}\n`);
let text = await readFile(page, "utf8");
text = withSection(text, "servers", serverTable(findings));
text = withSection(text, "failures", failureTable(findings));
text = withSection(text, "calls", callTable(findings));
if (inTerminal.every((name) => found.has(name)))
  text = withSection(text, "terminal", await captureStatus(bench));
await writeFile(page, text);

async function coldRounds(at: Bench): Promise<Map<string, Round[]>> {
  const all = new Map<string, Round[]>(chosen.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round++) {
    await coldRound(at, chosen, ({ name }, one) => {
      all.get(name)?.push(one);
      console.log(`round ${round}, ${name}: ${roundWords(one)}`);
    });
  }
  return all;
}

/** Uses a server that connected in every round, and says if it did something else than expected. */
async function use(at: Bench, candidate: Candidate): Promise<Finding> {
  const { name, package: wanted, version, remark } = candidate;
  const own = found.get(name) ?? [];
  const problem = complaint(candidate, own);
  if (problem !== undefined) {
    console.log(`✗ ${name}: ${problem}`);
    process.exitCode = 1;
  }
  const finding = { name, package: wanted, version, ...(remark && { remark }), rounds: own };
  if (own.some(({ failure }) => failure)) return finding;
  try {
    return { ...finding, visit: await visit(at, candidate) };
  } catch (error) {
    console.log(`✗ ${name}: could not be used: ${String(error)}`);
    process.exitCode = 1;
    return finding;
  }
}

/** Captures the terminal, 100 columns wide. */
async function captureStatus({ root, folder, env }: Bench): Promise<string> {
  const tmux = (...args: string[]) =>
    run("tmux", ["-S", join(root, "terminal"), ...args], { cwd: folder, env });
  const line = `status ${inTerminal.join(" ")}`;
  const command = `'${process.execPath}' '${main}' ${line}; tmux wait-for -S shown; cat`;
  await tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "60", "-s", "status", command);
  await tmux("wait-for", "shown");
  const { stdout } = await tmux("capture-pane", "-p", "-t", "status");
  await tmux("kill-server");
  return `\`\`\`text\n$ plugboard ${line}\n${stdout.trimEnd().replaceAll(root, "…")}\n\`\`\``;
}
