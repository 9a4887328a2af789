import { PlugboardError, isPlugboardError } from "../index.ts";
import type { Parking } from "../host.ts";
import { shellWord } from "../lib/argv.ts";
import { isRecord } from "../lib/record.ts";
import type { Core } from "./core.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { isDeclared } from "./questions.ts";
import { sealState } from "./required-input.ts";
import type { openState } from "./required-input.ts";

/** The question about a call that waits for approval. */
export interface PendingQuestion {
  id: string;
  expiresAt: number;
  message: string;
}

/** Answers that come within this time leave the client as it is: a webhook may answer at once. */
const leaveAfterMs = 1_000;
/** How long a request that came back with a state waits before its client is asked again. */
const returnedMs = 20_000;
const inputKey = "approval";

/** How a call waits for approval, by what its client can do; undefined if calls do not wait here. */
export function parkingOf(
  asked: Exchange,
  question: string | undefined,
  { hub, closing }: Pick<Core, "hub" | "closing">,
): Parking | undefined {
  if (!hub.config.settings.approvals?.queue) return undefined;
  const { client } = asked;
  const canComeBack = client.era === "modern" && isDeclared(client, "elicitation/create", { mode: "form" });
  const isLeaving = () => closing.signal.aborted;
  if (canComeBack)
    return { question, leaveAfterMs: question === undefined ? leaveAfterMs : returnedMs, isLeaving };
  return { question, isThere: () => asked.isConnected !== false && !isLeaving() };
}

export function pendingQuestion(error: unknown): PendingQuestion | undefined {
  if (!isPlugboardError(error, "approval-pending")) return undefined;
  const { question, expiresAt } = error.data ?? {};
  const { message } = error;
  return typeof question === "string" ? { id: question, expiresAt: Number(expiresAt), message } : undefined;
}

/**
 * Tells a modern client what its call waits for. The form has no fields: whoever reads it is the client, so it decides
 * nothing but whether to go on waiting.
 */
export function handOut(
  { id, expiresAt, message }: PendingQuestion,
  exchange: Exchange,
  server: string,
  state: ReturnType<typeof openState>,
  core: Core,
): Answer {
  const { inputResponses } = exchange.params.value;
  // What the client answered its server in this round is not sent again by the client.
  const given = state?.approval === undefined && isRecord(inputResponses) ? inputResponses : {};
  const answered = { ...given, ...state?.answered };
  const requestState = sealState(
    exchange,
    core,
    {
      server,
      approval: id,
      ...(state?.from !== undefined && { from: state.from }),
      ...(state?.upstream !== undefined && { upstream: state.upstream }),
      ...(Object.keys(answered).length > 0 && { answered }),
    },
    // A little longer than the question, so that its client is told what became of it.
    expiresAt - Date.now() + 3_600_000,
  );
  const words = `${message} Somebody who may approve it answers with \`plugboard approvals answer ${shellWord(id)} allow\` or \`deny\`. Accept this to go on waiting, or decline it to give the call up.`;
  const form = { mode: "form", message: words, requestedSchema: { type: "object", properties: {} } };
  const inputRequests = { [inputKey]: { method: "elicitation/create", params: form } };
  return { result: { resultType: "input_required", inputRequests, requestState } };
}

/** The error of a call whose client does not want to wait any longer. */
export async function givenUp(
  question: string,
  { params }: Exchange,
  { hub }: Pick<Core, "hub">,
): Promise<PlugboardError | undefined> {
  const { inputResponses } = params.value;
  const response = isRecord(inputResponses) ? inputResponses[inputKey] : undefined;
  if (!isRecord(response) || response["action"] === "accept") return undefined;
  await hub.approvals.withdraw(question);
  return new PlugboardError("approval-denied", "The call was given up before anybody approved it.", {
    advice: "Make it again to ask again.",
  });
}
