import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Workspace } from "../../config.ts";
import type { LoadedConfig, ServerConfig } from "../../index.ts";
import { joinArgv } from "../../lib/argv.ts";
import { startDeadline } from "../../lib/deadline.ts";
import { programCandidates } from "../../lib/program-path.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { FoundClient } from "./found.ts";
import { gatewayName, tokenVariable } from "./gateway-entry.ts";
import { askClient } from "./health.ts";
import type { Health } from "./health.ts";

export interface CheckedClient {
  client: FoundClient;
  /** What keeps it from working, in words. */
  problems: string[];
  /** What a person should know, and is no problem by itself. */
  notes: string[];
  health?: Health | undefined;
}

export interface Checking {
  workspace: Workspace;
  config: LoadedConfig;
  terminal: Terminal;
  signal: AbortSignal;
  /** Also runs the client's own command. */
  asks: boolean;
}

/** Whether a client's file leads to a gateway that can be reached, and what the client says about that. */
export async function checkClient(client: FoundClient, checking: Checking): Promise<CheckedClient> {
  const { format, state, gateway, problem } = client;
  const checked: CheckedClient = { client, problems: [], notes: [] };
  const add = `\`${joinArgv(["plugboard", "client", "add", format.id])}\``;
  if (state === "unreadable") checked.problems.push(`its file cannot be read: ${problem ?? ""}`);
  if (state === "other") checked.problems.push(`another server is called "${gatewayName}" there`);
  if (state === "not wired" || state === "servers") checked.problems.push(`it is not wired: run ${add}`);
  if (state === "off") checked.problems.push("it is switched off there");
  if (!gateway) return checked;
  const found =
    gateway.command === undefined
      ? await reachProblems(gateway, checked, checking)
      : startProblems(gateway, checking);
  checked.problems.push(...found.map((one) => `${one}: run ${add} again`));
  if (checking.asks && state === "wired" && checked.problems.length === 0) {
    checked.health = await askClient(format.id, gatewayName, checking.terminal, checking.signal);
    const { health } = checked;
    if (health?.state === "failed")
      checked.problems.push(`\`${health.command.join(" ")}\` says: ${health.message}`);
  }
  return checked;
}

/** What the entry starts must be there. */
function startProblems(
  { command = "", args = [] }: ServerConfig,
  { workspace: { machine, cwd }, config }: Checking,
): string[] {
  const { env, platform } = machine;
  const problems: string[] = [];
  if (!programCandidates({ command, cwd, env, platform }).some(existsSync))
    problems.push(`it starts ${command}, which is not there`);
  const script = args.find((word) => isAbsolute(word) && /\.[cm]?[jt]s$/.test(word));
  if (script !== undefined && !existsSync(script)) problems.push(`it starts ${script}, which is not there`);
  const named = valueOf("--config", args);
  if (named !== undefined && !existsSync(named)) problems.push(`it uses ${named}, which is not there`);
  const bundle = valueOf("--bundle", args);
  if (bundle !== undefined && named === undefined && !config.bundles.has(bundle))
    problems.push(`it offers the bundle "${bundle}", which is not configured`);
  return problems;
}

function valueOf(option: string, args: readonly string[]): string | undefined {
  const at = args.indexOf(option);
  return at === -1
    ? args.find((word) => word.startsWith(`${option}=`))?.slice(option.length + 1)
    : args[at + 1];
}

const reachMs = 3000;

/** Any answer means that something listens there; that it is the gateway, the client has to find out. */
async function reachProblems(
  { url = "", bearerTokenEnv }: ServerConfig,
  { notes }: CheckedClient,
  { signal, terminal }: Checking,
): Promise<string[]> {
  if (bearerTokenEnv !== undefined && terminal.env[tokenVariable] === undefined)
    notes.push(`${tokenVariable} is not set in this shell; the client needs it where it runs`);
  using deadline = startDeadline(reachMs);
  const limit = AbortSignal.any([signal, deadline.signal]);
  try {
    const answer = await fetch(url, { method: "GET", redirect: "manual", signal: limit });
    await answer.body?.cancel();
    return [];
  } catch {
    signal.throwIfAborted();
    notes.push("`plugboard serve` starts the gateway");
    return [`nothing answers at ${url}`];
  }
}
