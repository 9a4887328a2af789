import { isMedia, jsonText, type ToolResult, withText } from "../content/parts.ts";
import { type CutTexts, cutTexts } from "./cut.ts";
import type { OutputPlan } from "./plan.ts";
import type { Weighed } from "./weigh.ts";

interface Marking {
  handle: string | undefined;
  /** False if only media were dropped on request, because their placeholders are enough. */
  needsMarker: boolean;
}

/** Builds the content of a bounded result from its plan. */
export function composeOutput(
  result: ToolResult,
  weighed: Weighed,
  plan: OutputPlan,
  { handle, needsMarker }: Marking,
): { content: unknown[]; droppedMedia: number } {
  const texts = textsOf(weighed);
  const cut = plan.cutsText ? cutTexts(texts, plan.textBudget) : undefined;
  const preview = cut ? undefined : previewStructured(result, plan, texts);
  const gone = droppedParts(plan, texts, cut);
  const marker = markerText({
    left: weighed.total - keptTokens(weighed, plan, texts, cut ?? preview),
    total: weighed.total,
    gone: gone.size,
    handle,
  });

  let order = 0;
  const raw: unknown[] = Array.isArray(result.content) ? result.content : [];
  const content = raw.flatMap((part, index): unknown[] => {
    const decision = plan.parts[index] ?? "keep";
    const place = decision === "text" ? order++ : -1;
    if (gone.has(index)) return [];
    if (typeof decision === "object") return [{ type: "text", text: decision.placeholder }];
    if (place === -1 || !cut) return [part];
    const text = cut.texts[place] ?? "";
    return [withText(part, place === cut.markAt ? joinCut(text, marker, cut.tail) : text)];
  });
  if (preview) content.push({ type: "text", text: joinCut(preview.texts[0] ?? "", marker, preview.tail) });
  else if (needsMarker && !cut) content.push({ type: "text", text: marker });
  const dropped = weighed.parts.filter(({ part }, index) => isMedia(part) && plan.parts[index] !== "keep");
  return { content, droppedMedia: dropped.length };
}

interface PlacedText {
  index: number;
  text: string;
  tokens: number;
}

function textsOf({ parts }: Weighed): PlacedText[] {
  return parts.flatMap(({ part, tokens }, index) =>
    part.kind === "text" || part.kind === "resource" ? [{ index, text: part.text, tokens }] : [],
  );
}

/** Shows structured content that is too large to keep as text, so that a model sees what it contains. */
function previewStructured(
  result: ToolResult,
  plan: OutputPlan,
  texts: readonly PlacedText[],
): CutTexts | undefined {
  if (plan.structured !== "drop") return undefined;
  const room = plan.textBudget - sum(texts.map(({ tokens }) => tokens));
  return cutTexts([{ text: jsonText(result.structuredContent, 1), tokens: Infinity }], room);
}

function droppedParts(
  plan: OutputPlan,
  texts: readonly PlacedText[],
  cut: CutTexts | undefined,
): Set<number> {
  const gone = new Set<number>();
  plan.parts.forEach((decision, index) => decision === "omit" && gone.add(index));
  texts.forEach(({ index }, place) => cut && cut.texts[place] === undefined && gone.add(index));
  return gone;
}

function keptTokens(
  { parts, structured }: Weighed,
  plan: OutputPlan,
  texts: readonly PlacedText[],
  cut: CutTexts | undefined,
): number {
  const others = sum(parts.map(({ tokens }, index) => (plan.parts[index] === "keep" ? tokens : 0)));
  const shown = plan.cutsText ? 0 : sum(texts.map(({ tokens }) => tokens));
  return (
    others + shown + (cut?.keptTokens ?? 0) + (plan.structured === "keep" ? (structured?.tokens ?? 0) : 0)
  );
}

function markerText(facts: {
  left: number;
  total: number;
  gone: number;
  handle: string | undefined;
}): string {
  const left = Math.max(0, facts.left).toLocaleString("en-US");
  const parts = facts.gone === 0 ? "" : facts.gone === 1 ? " (1 part)" : ` (${facts.gone} parts)`;
  const where = facts.handle ? `read the rest with result handle ${facts.handle}` : "the rest was not kept";
  return `… ${left} of ${facts.total.toLocaleString("en-US")} tokens left out${parts}; ${where} …`;
}

/** Puts the marker on its own line. */
function joinCut(head: string, marker: string, tail: string): string {
  const opening = head === "" || head.endsWith("\n") ? head : `${head}\n`;
  return opening + marker + (tail === "" || tail.startsWith("\n") ? tail : `\n${tail}`);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
