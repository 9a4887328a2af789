/**
 * Installs third-party servers from npm and uses each through the built command line: `plugboard add`, the lists, and
 * one harmless `plugboard call`. Then shows eight of them with `plugboard status` in a real terminal and updates
 * docs/compatibility.md. Only npm uses the network. Requires git, tmux and `npm run build`.
 * Run: node scripts/compatibility.ts [folder to install in and keep]
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { joinArgv } from "../src/lib/argv.ts";
import type { CallResult, ServerReport } from "../src/index.ts";
import { runNode } from "../test/run-command.ts";
import { candidates } from "./compatibility/servers.ts";
import type { Candidate } from "./compatibility/servers.ts";

interface Finding {
  candidate: Candidate;
  protocol: string;
  offers: string;
  start: string;
  call?: { line: string; exitCode: number | null; answer: string };
}

const run = promisify(execFile);
const page = join(import.meta.dirname, "..", "docs", "compatibility.md");
const main = join(import.meta.dirname, "..", "dist", "cli", "main.js");
const inTerminal = "everything filesystem memory thinking playwright devtools context7 eslint";
const warmStarts = 3;

if (!existsSync(main)) throw new Error("The command line is not built. Run: npm run build");
const kept = process.argv[2];
const root = await prepareRoot();
const [home, folder] = [join(root, "home"), join(root, "work")];
const env = { HOME: home, PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` };
try {
  await prepareFolder();
  const findings: Finding[] = [];
  for (const candidate of candidates(folder)) {
    await install(candidate);
    const finding = await examine(candidate);
    findings.push(finding);
    console.log(
      `${candidate.name}: ${finding.protocol}, ${finding.offers}, ${finding.call?.answer ?? "not called"}`,
    );
  }
  await writeSection("servers", serverTable(findings));
  await writeSection("calls", callTable(findings));
  const command = `plugboard status ${inTerminal}`;
  await writeSection("terminal", `\`\`\`text\n$ ${command}\n${await captureStatus()}\n\`\`\``);
} finally {
  if (kept === undefined) await rm(root, { recursive: true, force: true, maxRetries: 20 });
}

async function prepareRoot(): Promise<string> {
  if (kept === undefined) return realpath(await mkdtemp(join(tmpdir(), "plugboard-compatibility-")));
  await mkdir(kept, { recursive: true });
  return realpath(resolve(kept));
}

/** Creates an empty home and a git repository with one file for the servers to use. */
async function prepareFolder(): Promise<void> {
  await rm(home, { recursive: true, force: true, maxRetries: 20 });
  await mkdir(home);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "hello.js"), 'console.log("hello");\n');
  await writeFile(join(folder, "eslint.config.mjs"), "export default [{ rules: { semi: 2 } }];\n");
  if (!existsSync(join(folder, ".git"))) await run("git", ["init", "--quiet", folder]);
}

/** Installs each server in its own folder, without running install scripts. */
async function install({ name, package: wanted, version }: Candidate): Promise<void> {
  const own = join(root, name);
  if (existsSync(join(own, "node_modules"))) return;
  await mkdir(own, { recursive: true });
  await writeFile(join(own, "package.json"), "{}");
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", ["install", ...flags, `${wanted}@${version}`], { cwd: own });
}

function plugboard(...args: string[]) {
  return runNode([main, ...args], { cwd: folder, env });
}

async function plugboardJson<T>(...args: string[]): Promise<T> {
  return JSON.parse((await plugboard(...args, "--json")).out) as T;
}

async function examine(candidate: Candidate): Promise<Finding> {
  const { name, bin, args = [], env: variables = {} } = candidate;
  const program = join(root, name, "node_modules", ".bin", bin);
  const pairs = Object.entries(variables).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
  const added = await plugboard("add", name, ...pairs, "--", program, ...args);
  if (added.code !== 0) throw new Error(added.err);
  const { era = "failed", protocolVersion = "", startMs: coldMs } = await status(name);
  const offers = await count(name);
  const call = candidate.call && (await makeCall(name, candidate.call));
  const warm: number[] = [];
  for (let i = 0; i < warmStarts; i++) warm.push((await status(name)).startMs ?? Infinity);
  const start = coldMs === undefined ? "–" : `${coldMs} / ${Math.min(...warm)}`;
  return { candidate, protocol: `${era} ${protocolVersion}`, offers, start, ...(call && { call }) };
}

async function status(name: string): Promise<Partial<ServerReport>> {
  const { servers } = await plugboardJson<{ servers: ServerReport[] }>("status", name);
  return servers[0] ?? {};
}

async function count(name: string): Promise<string> {
  const { tools } = await plugboardJson<{ tools: unknown[] }>("tools", name);
  const { resources } = await plugboardJson<{ resources: unknown[] }>("resources", name);
  const { prompts } = await plugboardJson<{ prompts: unknown[] }>("prompts", name);
  return `${tools.length} / ${resources.length} / ${prompts.length}`;
}

async function makeCall(
  server: string,
  { tool, arguments: args }: NonNullable<Candidate["call"]>,
): Promise<NonNullable<Finding["call"]>> {
  const words = Object.entries(args).map(([key, value]) => `${key}=${String(value)}`);
  const line = ["call", `${server}.${tool}`, ...words, "--json"];
  const { code: exitCode, out } = await plugboard(...line);
  const shown = joinArgv(["plugboard", ...line]).replaceAll(folder, "$PWD");
  return { line: shown, exitCode, answer: firstWords(JSON.parse(out) as Answer) };
}

type Answer = Partial<CallResult> & { error?: { code: string; message: string } };

function firstWords({ content = [], structuredContent, error }: Answer): string {
  if (error) return short(`${error.code}: ${error.message}`);
  const text = content.find(({ type }) => type === "text")?.["text"];
  return short(typeof text === "string" ? text : JSON.stringify(structuredContent ?? content));
}

function short(text: string): string {
  const line = text.replaceAll(root, "…").replaceAll(/\s+/g, " ").trim();
  return line.length > 160 ? `${line.slice(0, 160)} …` : line;
}

function serverTable(findings: readonly Finding[]): string {
  return table(
    ["server", "package", "era, revision", "tools / resources / prompts", "start cold / warm, ms", "remarks"],
    findings.map(({ candidate, protocol, offers, start }) => {
      const { name, package: wanted, version, remark = "" } = candidate;
      return [name, `${wanted} ${version}`, protocol, offers, start, remark];
    }),
  );
}

function callTable(findings: readonly Finding[]): string {
  const calls = findings.flatMap(({ call }) => (call ? [call] : []));
  const rows = calls.map(({ line, exitCode, answer }) => {
    const outcome = exitCode === 0 ? "ok" : `exit code ${exitCode}`;
    return [code(line), outcome, code(answer)];
  });
  const good = calls.filter(({ exitCode }) => exitCode === 0).length;
  const sum = `${good} of ${calls.length} calls succeeded.`;
  return `${sum}\n\n${table(["command line", "outcome", "start of the result"], rows)}`;
}

function table(head: readonly string[], rows: readonly string[][]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Formats text as code in a table cell. */
function code(text: string): string {
  return `\`${text.replaceAll("`", "'").replaceAll("|", "\\|")}\``;
}

/** Captures the terminal, 100 columns wide. */
async function captureStatus(): Promise<string> {
  const tmux = (...args: string[]) => run("tmux", ["-S", join(root, "terminal"), ...args], { cwd: folder });
  const command = `HOME='${home}' '${process.execPath}' '${main}' status ${inTerminal}; tmux wait-for -S shown; cat`;
  await tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", "-s", "status", command);
  await tmux("wait-for", "shown");
  const { stdout } = await tmux("capture-pane", "-p", "-t", "status");
  await tmux("kill-server");
  return stdout.trimEnd();
}

async function writeSection(name: string, content: string): Promise<void> {
  const text = await readFile(page, "utf8");
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [before = "", rest = ""] = text.split(start);
  await writeFile(page, `${before}${start}\n${content}\n${end}${rest.split(end)[1] ?? ""}`);
}
