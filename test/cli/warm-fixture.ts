import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { isAlive, programPath, until } from "../servers/stdio-fixture.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

/** A home with one server, `counting`, that may stay for a minute. Whatever stays is gone after the test. */
export function warmScene(
  settings: { keepWarm?: number; env?: Record<string, string>; program?: string } = {},
) {
  const { keepWarm = 60_000, env = {}, program = programPath("counting.mjs") } = settings;
  const sandbox = createSandbox();
  const log = sandbox.path("project/log");
  const entry = { command: process.execPath, args: [program, log], cwd: sandbox.project, env };
  const configure = (changes: Record<string, unknown> = {}, top: Record<string, unknown> = { keepWarm }) =>
    sandbox.write("home/.config/plugboard/config.json", {
      ...top,
      mcpServers: { counting: { ...entry, ...changes } },
    });
  configure();
  onTestFinished(() => endAll(sandbox));
  const lines = () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").filter(Boolean) : []);
  return {
    sandbox,
    configure,
    log,
    lines,
    /** The processes that were ever started. */
    starts: () =>
      lines()
        .filter((line) => line !== "hang")
        .map(Number),
    /** The text that a tool of the server answers. */
    async call(tool: string, ...more: string[]): Promise<string> {
      const { code, json, err } = await sandbox.cli(["call", `counting.${tool}`, "--json", ...more]);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      const [part] = json["content"] as { text: string }[];
      return part?.text ?? "";
    },
    folder: join(sandbox.folders.state, "warm"),
  };
}

export function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

export async function gone(pid: number, what = `process ${pid}`): Promise<void> {
  await until(() => !isAlive(pid), `${what} is gone`);
}

async function endAll(sandbox: Sandbox): Promise<void> {
  await sandbox.cli(["stop"]);
  const folder = join(sandbox.folders.state, "warm");
  const files = () => (existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".pid")) : []);
  // The socket of a broker that was killed stays until the next one starts.
  const brokers = () =>
    files()
      .flatMap((name) => pidIn(join(folder, name)))
      .filter(isAlive);
  await until(() => brokers().length === 0, "no broker is left");
}

/** Nothing if the broker has just removed the file. */
function pidIn(file: string): number[] {
  try {
    return [Number(readFileSync(file, "utf8"))];
  } catch {
    return [];
  }
}
