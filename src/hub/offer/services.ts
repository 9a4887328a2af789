import { estimateTokens } from "../../calls/output/token-estimate.ts";
import { printable } from "../../lib/printable.ts";

/** A server, as far as a model should know before it searches. */
export interface Service {
  name: string;
  /** What it is for: from the configuration, or what the server says of itself. */
  about?: string | undefined;
}

/** Together with the rest of the three tools this stays below 400 tokens, however many servers there are. */
const mostTokens = 120;
/** How much of what servers say about themselves is tried, from much to nothing. */
const wordCounts = [12, 8, 5, 3, 0];
const longestWord = 24;

/**
 * A list of services for a description that models read. What a server says about itself is data: in quotes, on one
 * line, a few words of it, without characters that nobody sees.
 */
export function listServices(services: readonly Service[]): string {
  for (const words of wordCounts) {
    const whole = joined(services.map((service) => shown(service, words)));
    if (estimateTokens(whole) <= mostTokens) return whole;
  }
  return joined(asManyAsFit(services));
}

function asManyAsFit(services: readonly Service[]): string[] {
  const names: string[] = [];
  let tokens = 8;
  for (const service of services) {
    const name = shown(service, 0);
    tokens += estimateTokens(name) + 1;
    if (tokens > mostTokens) return [...names, `and ${services.length - names.length} more`];
    names.push(name);
  }
  return names;
}

function joined(parts: readonly string[]): string {
  return parts.length === 0 ? "" : `${parts.join(", ")}.`;
}

function shown({ name, about }: Service, most: number): string {
  const words = about === undefined || most === 0 ? "" : fewWords(about, most);
  const plain = printable(name, { oneLine: true }).slice(0, 40);
  return words === "" ? plain : `${plain} (${JSON.stringify(words)})`;
}

/** The beginning of the first sentence. */
function fewWords(about: string, most: number): string {
  const [sentence = ""] = about
    .slice(0, 1_000)
    .trim()
    .split(/[.!?:;](?:\s|$)|\r?\n/);
  const words = sentence
    .replaceAll(/["#*`<>\\]/g, " ")
    .split(/\s+/)
    .filter((word) => word !== "")
    .map((word) => printable(word, { oneLine: true }));
  const kept = words.slice(0, most).filter((word) => word.length <= longestWord);
  return kept.join(" ");
}
