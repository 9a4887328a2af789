import { spawn } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { skippedBySuite } from "./exceptions.ts";

export interface Outcome {
  scenario: string;
  passed: number;
  /** The problems that the suite reports. */
  problems: string[];
}

interface Check {
  name: string;
  status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED";
  description: string;
  errorMessage?: string;
}

/** What is tested: our client, or the server at a URL. */
export type Subject = { role: "client" } | { role: "server"; url: string };

/** Where a release of the suite left what it found out. */
interface Results {
  role: "client" | "server";
  folder: string;
}

const root = join(import.meta.dirname, "..", "..");

/** Runs a release of the suite, named by its package.json. */
export async function runSuite(release: string, args: string[], subject: Subject): Promise<Outcome[]> {
  const folder = await mkdtemp(join(tmpdir(), "plugboard-conformance-"));
  try {
    const program = fileURLToPath(new URL("dist/index.js", release));
    const tested =
      subject.role === "client"
        ? ["--command", "node scripts/conformance/client.ts"]
        : ["--url", subject.url];
    const all = [program, subject.role, ...args, ...tested, "--output-dir", folder];
    const summary = await output(folder, process.execPath, all);
    const listed = [...summary.matchAll(/^[✓✗-] (\S+): /gm)].map(([, scenario = ""]) => scenario);
    // With a single scenario there is no summary.
    const scenarios = args[0] === "--scenario" ? args.slice(1, 2) : listed;
    return await Promise.all(
      scenarios.map((scenario) => readOutcome({ role: subject.role, folder }, scenario)),
    );
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

async function output(folder: string, command: string, args: string[]): Promise<string> {
  const path = `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`;
  // All clients of a set start at once and share compiled code.
  const env = { ...process.env, PATH: path, NODE_COMPILE_CACHE: join(folder, "compiled") };
  const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  await new Promise((resolve, reject) => child.once("close", resolve).once("error", reject));
  return text;
}

/** Stricter than the suite, which ignores warnings, and a client's exit code when it runs a whole set. */
async function readOutcome({ role, folder }: Results, scenario: string): Promise<Outcome> {
  // The results of "auth/basic" are in a subfolder, with the time appended to its name.
  const place = join(folder, dirname(scenario));
  const wanted = role === "server" ? `server-${basename(scenario)}` : basename(scenario);
  const own = (await readdir(place)).find((name) => name.replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "") === wanted);
  if (own === undefined) return { scenario, passed: 0, problems: ["no results"] };
  const read = (file: string) => readFile(join(place, own, file), "utf8");
  const checks = JSON.parse(await read("checks.json")) as Check[];
  const passed = checks.filter(({ status }) => status === "SUCCESS").length;
  const problems = checks
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map(({ name, description, errorMessage = description }) => `${name}: ${errorMessage}`);
  if (passed === 0 && !skippedBySuite.has(scenario)) problems.push("nothing was checked");
  if (role === "client" && !(await read("stdout.txt")).endsWith("finished\n")) {
    problems.push(`the client failed: ${await read("stderr.txt")}`);
  }
  return { scenario, passed, problems };
}
