/**
 * Installs servers from npm that nobody here wrote, connects to each through the hub, lists what it has and makes one
 * harmless call; then shows eight of them with `plugboard status` in a real terminal. Writes docs/compatibility.md.
 * Only npm uses the network. Run: node scripts/compatibility.ts [folder to install into and keep]
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { createHub, isPlugboardError } from "../src/index.ts";
import type { CallResult, Hub } from "../src/index.ts";
import { candidates } from "./compatibility/servers.ts";
import type { Candidate } from "./compatibility/servers.ts";

interface Finding {
  candidate: Candidate;
  protocol: string;
  offers: string;
  coldMs: number | undefined;
  warmMs: number | undefined;
  call: string;
  result: string;
}

const run = promisify(execFile);
const page = join(import.meta.dirname, "..", "docs", "compatibility.md");
const inTerminal = [
  "everything",
  "filesystem",
  "memory",
  "thinking",
  "playwright",
  "devtools",
  "context7",
  "eslint",
];
const warmStarts = 3;

const kept = process.argv[2];
const root = kept === undefined ? await mkdtemp(join(tmpdir(), "plugboard-compatibility-")) : resolve(kept);
try {
  const folder = await prepareFolder();
  const servers = candidates(folder);
  const findings: Finding[] = [];
  for (const candidate of servers) {
    await install(candidate);
    const finding = await examine(candidate, folder);
    findings.push(finding);
    console.log(`${candidate.name}: ${finding.protocol}, ${finding.offers}, ${finding.result}`);
  }
  await writePage(table(findings), await captureStatus(servers, folder));
} finally {
  if (kept === undefined) await rm(root, { recursive: true, force: true });
}

/** A place for servers to look at: a repository with one file in it. */
async function prepareFolder(): Promise<string> {
  const folder = join(root, "work");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "hello.js"), 'console.log("hello");\n');
  await writeFile(join(folder, "eslint.config.mjs"), "export default [{ rules: { semi: 2 } }];\n");
  if (!existsSync(join(folder, ".git"))) await run("git", ["init", "--quiet", folder]);
  return folder;
}

/** Each into a folder of its own, and without running anybody's install scripts. */
async function install({ name, package: wanted, version }: Candidate): Promise<void> {
  const folder = join(root, name);
  if (existsSync(join(folder, "node_modules"))) return;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), "{}");
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", ["install", ...flags, `${wanted}@${version}`], { cwd: folder });
}

function serverConfig({ name, bin, args = [], env = {} }: Candidate, folder: string) {
  const command = join(root, name, "node_modules", ".bin", bin);
  const path = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
  return { command, args, cwd: folder, env: { ...env, PATH: path } };
}

async function examine(candidate: Candidate, folder: string): Promise<Finding> {
  const { name } = candidate;
  await using hub = await createHub({ servers: { [name]: serverConfig(candidate, folder) } });
  const coldMs = await start(hub, name);
  const { protocolVersion = "", era = "failed", message = "" } = hub.status()[0] ?? {};
  const finding = { candidate, protocol: `${era} ${protocolVersion}`, offers: await counts(hub), coldMs };
  if (coldMs === undefined) return { ...finding, warmMs: undefined, call: "", result: message };
  const result = candidate.call ? await call(hub, candidate.name, candidate.call) : "not called";
  const warm: (number | undefined)[] = [];
  for (let i = 0; i < warmStarts; i++) {
    await hub.disconnect(name);
    warm.push(await start(hub, name));
  }
  return {
    ...finding,
    warmMs: Math.min(...warm.map((ms = Infinity) => ms)),
    call: candidate.call?.tool ?? "",
    result,
  };
}

async function start(hub: Hub, name: string): Promise<number | undefined> {
  await hub.connect(name).catch(() => undefined);
  return hub.status()[0]?.state === "connected" ? hub.status()[0]?.startMs : undefined;
}

async function counts(hub: Hub): Promise<string> {
  const [tools, resources, prompts] = [await hub.tools(), await hub.resources(), await hub.prompts()];
  return `${tools.length} / ${resources.length} / ${prompts.length}`;
}

async function call(
  hub: Hub,
  name: string,
  { tool, arguments: args }: NonNullable<Candidate["call"]>,
): Promise<string> {
  try {
    const result = await hub.callTool(`${name}.${tool}`, args);
    return `${result.isError ? "tool error" : "ok"}: ${firstWords(result)}`;
  } catch (error) {
    if (!isPlugboardError(error)) throw error;
    return `${error.code}: ${short(error.message)}`;
  }
}

function firstWords({ content, structuredContent }: CallResult): string {
  const text = content.find(({ type }) => type === "text")?.["text"];
  return short(typeof text === "string" ? text : JSON.stringify(structuredContent ?? content));
}

function short(text: string): string {
  const line = text
    .replaceAll(root, "…")
    .replaceAll(/[\s|`<>*_#]+/g, " ")
    .trim();
  return line.length > 60 ? `${line.slice(0, 60)} …` : line;
}

function table(findings: readonly Finding[]): string {
  const rows = findings.map(({ candidate, protocol, offers, coldMs, warmMs, call: tool, result }) =>
    [
      candidate.name,
      `${candidate.package} ${candidate.version}`,
      protocol,
      offers,
      `${coldMs ?? "–"} / ${warmMs ?? "–"}`,
      tool && `\`${tool}\``,
      result,
      candidate.remark ?? "",
    ].join(" | "),
  );
  const head =
    "server | package | era, revision | tools / resources / prompts | start cold / warm, ms | call | result | remarks";
  return [head, head.replaceAll(/[^|]+/g, "---"), ...rows].map((row) => `| ${row} |`).join("\n");
}

/** What a person sees, 100 columns wide. */
async function captureStatus(servers: readonly Candidate[], folder: string): Promise<string> {
  const shown = servers.filter(({ name }) => inTerminal.includes(name));
  const mcpServers = Object.fromEntries(shown.map((one) => [one.name, serverConfig(one, folder)]));
  const config = join(root, "status.json");
  await writeFile(config, JSON.stringify({ mcpServers }));
  const main = join(import.meta.dirname, "..", "src", "cli", "main.ts");
  const tmux = (...args: string[]) => run("tmux", ["-S", join(root, "terminal"), ...args]);
  const home = join(root, "home");
  const status = `HOME='${home}' '${process.execPath}' '${main}' status --config '${config}'; tmux wait-for -S shown; cat`;
  await tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", "-s", "status", status);
  await tmux("wait-for", "shown");
  const { stdout } = await tmux("capture-pane", "-p", "-t", "status");
  await tmux("kill-server");
  return stdout.trimEnd();
}

async function writePage(findings: string, terminal: string): Promise<void> {
  const text = await readFile(page, "utf8");
  const withTable = between(text, "servers", findings);
  await writeFile(
    page,
    between(withTable, "terminal", `\`\`\`text\n$ plugboard status\n${terminal}\n\`\`\``),
  );
}

function between(text: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [before = "", rest = ""] = text.split(start);
  const after = rest.split(end)[1] ?? "";
  return `${before}${start}\n${content}\n${end}${after}`;
}
