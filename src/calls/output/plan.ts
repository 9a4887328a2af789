import { describeMedia } from "../content/media.ts";
import { isMedia } from "../content/parts.ts";
import type { Weighed } from "./weigh.ts";
import { estimateTokens } from "./token-estimate.ts";

export interface OutputPlan {
  /** For each part: `text` follows `textBudget`, a string is what stands in its place. */
  parts: ("keep" | "text" | "omit" | { placeholder: string })[];
  textBudget: number;
  cutsText: boolean;
  structured: "none" | "keep" | "drop";
}

/** Tokens set aside for the line that says what was left out. */
const markerTokens = 48;

/**
 * Shares a budget over the parts of a result. Links, media and unknown parts stay whole or go whole, first come
 * first served, and leave text at least half of the budget; text gets all that they do not use.
 */
export function planOutput(
  { parts, structured, total }: Weighed,
  { maxTokens, media }: { maxTokens: number; media: "keep" | "drop" },
): OutputPlan {
  const budget = Math.max(0, total > maxTokens ? maxTokens - markerTokens : maxTokens);
  const textTokens = parts.reduce((sum, { part, tokens }) => sum + (isText(part.kind) ? tokens : 0), 0);
  const ownStructured = structured?.tokens ?? 0;
  // A few fields beside a huge text are worth more than the text they would make room for.
  const reserved = ownStructured <= budget / 4 ? ownStructured : 0;

  let room = Math.max(Math.floor((budget - reserved) / 2), budget - reserved - textTokens);
  const decisions = parts.map(({ part, tokens }): OutputPlan["parts"][number] => {
    if (isText(part.kind)) return "text";
    if (!(isMedia(part) && media === "drop") && tokens <= room) {
      room -= tokens;
      return "keep";
    }
    if (!isMedia(part)) return "omit";
    const placeholder = `[${describeMedia(part)}: left out]`;
    const cost = estimateTokens(placeholder);
    if (cost > room) return "omit";
    room -= cost;
    return { placeholder };
  });
  const used = sumUsed(parts, decisions);
  const textBudget = Math.max(0, budget - reserved - used);
  const cutsText = textTokens > textBudget;
  const fits = structured?.isMirrored ? !cutsText : reserved > 0 || ownStructured <= textBudget - textTokens;
  return {
    parts: decisions,
    textBudget,
    cutsText,
    structured: structured === undefined ? "none" : fits ? "keep" : "drop",
  };
}

function sumUsed(parts: Weighed["parts"], decisions: OutputPlan["parts"]): number {
  return decisions.reduce((sum, decision, index) => {
    if (decision === "keep") return sum + (parts[index]?.tokens ?? 0);
    return typeof decision === "object" ? sum + estimateTokens(decision.placeholder) : sum;
  }, 0);
}

function isText(kind: string): boolean {
  return kind === "text" || kind === "resource";
}
