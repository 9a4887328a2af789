import { isRecord } from "../../lib/record.ts";
import { isMedia, type ToolResult } from "../content/parts.ts";
import { composeOutput } from "./compose.ts";
import { planOutput } from "./plan.ts";
import { weigh } from "./weigh.ts";

export interface OutputPolicy {
  warnTokens: number;
  maxTokens: number;
  media: "keep" | "drop";
}

/** Stores a whole result and returns its handle. `mirrored` is what its structured content and its text both contain. */
export type Keep<T> = (whole: T, mirrored: { value: unknown } | undefined) => Promise<string>;

/** Also in the result, under `_meta["plugboard/output"]`, if anything was left out or it is large. */
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
 * Cuts a result to about the policy's limit. Below `warnTokens`, returns the same object; up to the limit, adds a note. Above it, cuts text to head,
 * marker and tail, keeps or drops each other part and `structuredContent` as a whole, and calls `keep` once to store
 * the whole result. If storing fails, the result has no handle but is still returned.
 */
export async function boundOutput<T extends ToolResult>(
  result: T,
  policy: OutputPolicy,
  keep: Keep<T>,
): Promise<{ result: T; note?: OutputNote }> {
  const weighed = weigh(result, policy);
  const tokens = weighed.total;
  const dropsMedia = policy.media === "drop" && weighed.parts.some(({ part }) => isMedia(part));
  if (tokens <= policy.maxTokens && !dropsMedia) {
    if (tokens <= policy.warnTokens) return { result };
    const note = { tokens, cut: false };
    return { result: withNote(result, note), note };
  }
  const plan = planOutput(weighed, policy);
  const kept = await storeWhole(result, weighed.structured?.mirrored, keep);
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
  const { structuredContent: _structured, ...rest } = result;
  const shown = { ...(plan.structured === "drop" ? rest : result), content } as unknown as T;
  return { result: withNote(shown, note), note };
}

function withNote<T extends ToolResult>(result: T, note: OutputNote): T {
  return { ...result, _meta: { ...(isRecord(result._meta) ? result._meta : {}), "plugboard/output": note } };
}

async function storeWhole<T>(
  result: T,
  mirrored: { value: unknown } | undefined,
  keep: Keep<T>,
): Promise<{ handle?: string; notKept?: string }> {
  try {
    return { handle: await keep(result, mirrored) };
  } catch (error) {
    return { notKept: error instanceof Error ? error.message : String(error) };
  }
}
