import type { WarmProcess, Workspace } from "../../config.ts";
import type { LoadedConfig } from "../../index.ts";
import { safe } from "../terminal/print.ts";
import type { Finding } from "./finding.ts";
import { seconds } from "./status/words.ts";

/** The processes that commands left of these servers, or use right now. */
export async function warmOf(config: LoadedConfig, workspace: Workspace): Promise<WarmProcess[]> {
  const all = await workspace.warm.list();
  return all.filter(({ server }) => config.servers.has(server));
}

/** Lines below the table of `status`; empty if nothing is warm. */
export function warmText(processes: readonly WarmProcess[], now: number): string {
  if (processes.length === 0) return "";
  const lines = processes.map((process) => `  ${processWords(process, now)}\n`);
  return `\nKept warm for the next command (\`plugboard stop\` ends them):\n${lines.join("")}`;
}

function processWords({ server, pid, startedAt, endsAt, state }: WarmProcess, now: number): string {
  const age = `started ${duration(now - startedAt)} ago`;
  const end = endsAt === undefined ? stateWords[state] : `ends in ${duration(endsAt - now)}`;
  return `${safe(server)}  process ${pid}, ${age}, ${end}`;
}

const stateWords = { "in-use": "in use", waiting: "waiting", ending: "ending" };

function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes >= 120) return `${Math.floor(minutes / 60)} h`;
  return minutes >= 2 ? `${minutes} min` : seconds(Math.max(0, ms));
}

/** What is wrong with the place where servers are kept. */
export async function warmFindings(workspace: Workspace): Promise<Finding[]> {
  const problems = await workspace.warm.problems();
  return problems.map(({ message, isStale }) => ({
    level: "note",
    about: "warm servers",
    message,
    advice: isStale
      ? "Its broker was killed, and its servers ended with it. The next command that needs one removes the socket."
      : "Until then no server is kept warm.",
  }));
}
