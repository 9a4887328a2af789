import { ParsedParams } from "../../host.ts";
import type { Parking } from "../../host.ts";
import { isRecord } from "../../lib/record.ts";
import { calledTool } from "../called-tool.ts";
import type { CalledTool } from "../called-tool.ts";
import type { Core } from "../core.ts";
import type { Exchange } from "../exchange.ts";
import { onAborted } from "../open-exchange.ts";
import { followCall } from "./follow-call.ts";
import { ownExchange } from "./own-exchange.ts";
import { tooManyTasks } from "./protocols.ts";
import { RunningTask } from "./running-task.ts";

/** What is needed to make the call of a task again, in another process. */
interface KeptCall {
  params: string;
  bundle: string | null;
  /** How it is judged where the configuration says nothing, if not like a direct call. */
  approval?: CalledTool["approval"];
}

/**
 * How the call of a task waits for approval: under the task's id, and with what another process needs. From the first
 * moment, because the client may have the task before the question is answered.
 */
export function taskParking(
  id: () => string,
  { params, client }: Exchange,
  approval: CalledTool["approval"],
): Parking {
  const kept = (): KeptCall => ({
    params: params.bytes.toString("utf8"),
    bundle: client.endpoint.bundle ?? null,
    ...(approval && { approval }),
  });
  return { id, leaveAfterMs: 0, kept };
}

/** Goes on with a task whose call waited for approval when an earlier process ended; undefined if there is none. */
export async function resumeWaiting(
  id: string,
  exchange: Exchange,
  core: Core,
): Promise<RunningTask | undefined> {
  const { client } = exchange;
  const { caller, endpoint } = client;
  if (!isWaitingId(id)) return undefined;
  const found = await core.hub.approvals.find(id);
  const kept = found && keptCall(found.kept);
  if (!found || !kept || found.question.caller !== caller || kept.bundle !== (endpoint.bundle ?? null))
    return undefined;
  const abort = new AbortController();
  const { signal } = abort;
  const asked: Exchange = {
    client,
    id: exchange.id,
    method: "tools/call",
    params: ParsedParams.parse(Buffer.from(kept.params)),
    signal,
    onCancelled: onAborted(signal),
    notify: () => undefined,
  };
  const { server, call } = await calledTool(asked, core, { approval: kept.approval });
  // Another request may have been faster.
  const running = core.tasks.get(id, client);
  if (running) return running;
  const task = new RunningTask({ id, caller, server, ttlMs: waitingTtl(found.question), abort });
  if (!core.tasks.add(task, asked.params.heldBytes)) throw tooManyTasks();
  const begin: Parameters<typeof followCall>[0]["begin"] = (more, parking) =>
    call(ownExchange(asked, signal, more), parking);
  const first = begin(undefined, { question: id, leaveAfterMs: 0 });
  followCall({ task, exchange: asked, signal, first, begin }, core);
  return task;
}

/** Tasks of servers have other ids. */
export function isWaitingId(id: string): boolean {
  return id.startsWith("g_");
}

/** A task lasts as long as its question may be answered, and an hour more. */
export function waitingTtl({ expiresAt }: { expiresAt: number }): number {
  return Math.max(expiresAt - Date.now(), 0) + 3_600_000;
}

function keptCall(value: unknown): KeptCall | undefined {
  const isSound =
    isRecord(value) &&
    typeof value["params"] === "string" &&
    (value["bundle"] === null || typeof value["bundle"] === "string") &&
    (value["approval"] === undefined || value["approval"] === "auto");
  return isSound ? (value as unknown as KeptCall) : undefined;
}
