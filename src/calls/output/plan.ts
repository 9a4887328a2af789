import { describeMedia } from "../content/media.ts";
import { isMedia } from "../content/parts.ts";
import type { Weighed } from "./weigh.ts";
import { estimateTokens } from "./token-estimate.ts";

export interface OutputPlan {
  /** The decision for each part; `text` means that it shares `textBudget`. */
  parts: ("keep" | "text" | "omit" | { placeholder: string })[];
  textBudget: number;
  cutsText: boolean;
  structured: "none" | "keep" | "drop";
}

/** Tokens reserved for the marker. */
const markerTokens = 48;

/**
 * Divides a budget among the parts of a result. Links, media and unknown parts are kept or dropped as a whole, first
 * come, first served. They get at most half of the budget; text gets the rest.
 */
export function planOutput(
  { parts, structured, total }: Weighed,
  { maxTokens, media }: { maxTokens: number; media: "keep" | "drop" },
): OutputPlan {
  const budget = Math.max(0, total > maxTokens ? maxTokens - markerTokens : maxTokens);
  const textTokens = parts.reduce((sum, { part, tokens }) => sum + (isText(part.kind) ? tokens : 0), 0);
  const ownStructured = structured?.tokens ?? 0;
  // A few structured fields are worth more than the extra text that would fit without them.
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
  const fits = structured?.mirrored ? !cutsText : reserved > 0 || ownStructured <= textBudget - textTokens;
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
