import { stripVTControlCharacters } from "node:util";
import { runProgram } from "../../host.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** What a client itself says about an entry of its file. */
export interface Health {
  /** The command that was run. */
  command: string[];
  /** `listed`: the client knows the entry, and its command does not connect. */
  state: "connected" | "listed" | "failed" | "unclear";
  /** The client's own line, or why there is none. */
  message: string;
}

interface HealthCommand {
  words(name: string): [string, ...string[]];
  /** False if the command only reads the configuration. */
  connects: boolean;
}

/** The clients with a command that tells how a server is. */
const commands: Readonly<Record<string, HealthCommand>> = {
  "claude-code": { words: (name) => ["claude", "mcp", "get", name], connects: true },
  codex: { words: (name) => ["codex", "mcp", "get", name], connects: false },
  copilot: { words: () => ["copilot", "mcp", "list"], connects: false },
  cursor: { words: () => ["cursor-agent", "mcp", "list"], connects: true },
  gemini: { words: () => ["gemini", "mcp", "list"], connects: true },
  opencode: { words: () => ["opencode", "mcp", "list"], connects: true },
};

const timeoutMs = 60_000;
const maxBytes = 65_536;

/** The program that a client is, if it has one that tells about its servers. */
export function programOf(client: string): string | undefined {
  return commands[client]?.words("")[0];
}

/** Asks the client, in a bounded time. Undefined if it has no such command, or is not on PATH. */
export async function askClient(
  client: string,
  name: string,
  { cwd, env }: Pick<Terminal, "cwd" | "env">,
  signal: AbortSignal,
): Promise<Health | undefined> {
  const asked = commands[client];
  if (!asked) return undefined;
  const [command, ...args] = asked.words(name);
  const end = await runProgram({ command, args, cwd, env, timeoutMs, maxBytes, signal });
  if (!end) return undefined;
  const whole = [command, ...args];
  if (end.isTimedOut)
    return { command: whole, state: "unclear", message: `no answer within ${timeoutMs / 1000} s` };
  return { command: whole, ...judged(stripVTControlCharacters(end.text), name, end.code, asked.connects) };
}

const bad = /[✗✘✖]|\bfail|\berror\b|disconnected|not connected|not found|no mcp server|\bneeds\b|timed? out/i;
const good = /[✓✔]|\bconnected\b|\bready\b/i;

/** The lines about one server, or all lines of a command that is about one. */
export function judged(
  text: string,
  name: string,
  code: number | null,
  connects: boolean,
): Pick<Health, "state" | "message"> {
  const lines = text.split("\n").map((line) => line.trim());
  const isAbout = (line: string) => line.split(/[^\w.-]+/).includes(name);
  const at = lines.findIndex(isAbout);
  const status = lines.slice(Math.max(at, 0)).find((line) => isStatus(line, isAbout)) ?? lines[at];
  const line = (status ?? lines.find((one) => one !== "") ?? "").slice(0, 200);
  if (at === -1) return { state: "failed", message: line === "" ? "it does not list it" : line };
  if (bad.test(line)) return { state: "failed", message: line };
  if (code !== 0) return { state: "failed", message: `exit code ${code ?? "none"}: ${line}` };
  if (!connects) return { state: "listed", message: line };
  return { state: good.test(line) ? "connected" : "unclear", message: line };
}

/** A line of the server itself, or one such as `Status: ✔ Connected`. */
function isStatus(line: string, isAbout: (line: string) => boolean): boolean {
  return (isAbout(line) || /^(status|state)\b/i.test(line)) && (bad.test(line) || good.test(line));
}
