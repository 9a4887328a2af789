import { errorTable } from "../host.ts";
import { PlugboardError, isPlugboardError } from "../index.ts";
import type { ToolExplanation } from "../host.ts";
import type { ErrorCode, Hub } from "../index.ts";
import { joinArgv } from "../lib/argv.ts";
import { findTool, serverIn } from "./find.ts";
import { statusWords } from "./views/tool-status.ts";

/** Whether a tool can be called now, later, only after somebody did something, or not at all. */
export interface Readiness {
  /** As it was asked for. */
  tool: string;
  state: "ready" | "wait" | "blocked" | "unknown";
  id?: string;
  server?: string;
  reason: string;
  hint?: string;
  code?: ErrorCode;
  /** Whether a call would be asked about; see `explain`. */
  approval?: string;
}

/** From the best to the worst. */
export const readinessExitCodes = { ready: 0, wait: 8, blocked: 7, unknown: 4 } as const;

const order = Object.keys(readinessExitCodes) as Readiness["state"][];

/** The exit code of the worst. */
export function worstExitCode(tools: readonly Readiness[]): number {
  const worst = Math.max(0, ...tools.map(({ state }) => order.indexOf(state)));
  return readinessExitCodes[order[worst] ?? "ready"];
}

/** Connects the servers of the tools and looks whether each could be called. `patience` ends the wait, not the command. */
export async function checkTools(
  hub: Hub,
  tools: readonly string[],
  patience: AbortSignal,
): Promise<Readiness[]> {
  const reads = new Map<string, Promise<void>>();
  const read = (server: string) => {
    const known = reads.get(server) ?? readNow(hub, server, patience);
    reads.set(server, known);
    return known;
  };
  return Promise.all(
    tools.map((tool) =>
      checkTool(hub, tool, patience, read).catch((error: unknown) => {
        if (isPlugboardError(error)) return unready(tool, error, hub, patience);
        throw error;
      }),
    ),
  );
}

async function checkTool(
  hub: Hub,
  query: string,
  signal: AbortSignal,
  read: (server: string) => Promise<void>,
): Promise<Readiness> {
  const named = serverIn(query, hub);
  const server = named ?? (await findTool(hub, query, [], signal)).server;
  await read(server);
  const explanation = await hub.explainTool(query, { wait: false });
  return judge(query, explanation);
}

function judge(tool: string, explanation: ToolExplanation): Readiness {
  const { id, server, status, approval, pin } = explanation;
  const about = { tool, id, server };
  const hint = `Run \`${joinArgv(["plugboard", "explain", id])}\` to see which rule decides it.`;
  const reason = `it is ${statusWords(explanation, explanation.decidedBy)}`;
  if (status !== "available" && pin && pin.state !== "same")
    return { ...about, state: "blocked", reason, hint: pinHint(server, pin.state), code: "lock-mismatch" };
  if (status !== "available") return { ...about, state: "blocked", reason, hint, code: "tool-hidden" };
  if (approval.mode === "deny")
    return {
      ...about,
      state: "blocked",
      reason: "the configuration denies calls",
      hint,
      code: "approval-denied",
    };
  const isAsked = approval.rule !== undefined && approval.mode !== "approve";
  return {
    ...about,
    state: "ready",
    reason: isAsked ? `it can be called; approval is ${approval.mode}` : "it can be called",
    ...(approval.rule !== undefined && { approval: approval.mode }),
  };
}

function pinHint(server: string, state: NonNullable<ToolExplanation["pin"]>["state"]): string {
  if (state === "unreadable") return errorTable["lock-unreadable"].hint;
  return `Run \`${joinArgv(["plugboard", "lock", server])}\` to see what changed, and approve it if it is right.`;
}

/** What is remembered of a server does not say whether it is ready: it has to connect and list its tools now. */
async function readNow(hub: Hub, server: string, signal: AbortSignal): Promise<void> {
  await hub.connect(server, { signal });
  // Another list that fails says nothing about the tools.
  await hub.refresh(server, { signal }).catch((error: unknown) => {
    if (isPlugboardError(error, "call-cancelled")) throw error;
  });
  const failed = hub.status().find(({ name }) => name === server)?.failedLists?.["tools"];
  if (failed) throw new PlugboardError(failed.code, failed.message, { server, hint: failed.hint });
}

function unready(tool: string, error: PlugboardError, hub: Hub, patience: AbortSignal): Readiness {
  const server = error.server ?? serverIn(tool, hub);
  const about = { tool, ...(server !== undefined && { server }) };
  if (isPlugboardError(error, "call-cancelled") && patience.aborted) {
    const state = hub.status().find(({ name }) => name === server)?.state;
    const reason =
      state === "connecting" ? "its server is still starting" : "its server has not listed its tools yet";
    return {
      ...about,
      state: "wait",
      reason,
      hint: "Try again, or wait longer with --wait.",
      code: "start-timeout",
    };
  }
  const { code, message, hint } = error;
  const isUnknown = code === "tool-unknown" || code === "server-unknown";
  const state = isUnknown
    ? error.data?.["unknown"]
      ? "wait"
      : "unknown"
    : errorTable[code].passes
      ? "wait"
      : "blocked";
  return { ...about, state, reason: message, hint, code };
}
