import { isRecord } from "../../lib/record.ts";
import { isMedia, type ToolResult } from "../content/parts.ts";
import { composeOutput } from "./compose.ts";
import { planOutput } from "./plan.ts";
import { isSurelyBelow, weigh } from "./weigh.ts";

export interface OutputPolicy {
  warnTokens: number;
  maxTokens: number;
  media: "keep" | "drop";
}

/** Also in the bounded result, under `_meta["plugboard/output"]`, if anything was left out. */
export interface OutputNote {
  /** The estimate for the whole result. */
  tokens: number;
  cut: boolean;
  handle?: string;
  /** How many images, audio clips and binary resources were left out. */
  droppedMedia?: number;
  structuredContent?: "dropped";
  /** Why the whole result could not be stored; there is no handle then. */
  notKept?: string;
}

/**
 * Cuts a result to about the policy's limit. Within the limit, returns the same object. Above it, cuts text to head,
 * marker and tail, keeps or drops each other part and `structuredContent` as a whole, and calls `keep` once to store
 * the whole result. If storing fails, the result has no handle but is still returned.
 */
export async function boundOutput<T extends ToolResult>(
  result: T,
  policy: OutputPolicy,
  keep: (whole: T) => Promise<string>,
): Promise<{ result: T; note?: OutputNote }> {
  if (isSurelyBelow(result, Math.min(policy.warnTokens, policy.maxTokens))) return { result };
  const weighed = weigh(result);
  const tokens = weighed.total;
  const dropsMedia = policy.media === "drop" && weighed.parts.some(({ part }) => isMedia(part));
  if (tokens <= policy.maxTokens && !dropsMedia) {
    return tokens > policy.warnTokens ? { result, note: { tokens, cut: false } } : { result };
  }
  const plan = planOutput(weighed, policy);
  const kept = await storeWhole(result, keep);
  const { content, droppedMedia } = composeOutput(result, weighed, plan, {
    handle: kept.handle,
    needsMarker: tokens > policy.maxTokens,
  });
  const note: OutputNote = {
    tokens,
    cut: true,
    ...kept,
    ...(droppedMedia > 0 && { droppedMedia }),
    ...(plan.structured === "drop" && { structuredContent: "dropped" as const }),
  };
  const meta = { ...(isRecord(result._meta) ? result._meta : {}), "plugboard/output": note };
  const { structuredContent: _structured, ...rest } = result;
  return {
    result: { ...(plan.structured === "drop" ? rest : result), content, _meta: meta } as unknown as T,
    note,
  };
}

async function storeWhole<T>(
  result: T,
  keep: (whole: T) => Promise<string>,
): Promise<{ handle?: string; notKept?: string }> {
  try {
    return { handle: await keep(result) };
  } catch (error) {
    return { notKept: error instanceof Error ? error.message : String(error) };
  }
}
