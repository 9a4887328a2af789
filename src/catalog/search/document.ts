import { isRecord } from "../../lib/record.ts";
import type { ToolEntry } from "../tool-entry.ts";
import { tuning } from "./tuning.ts";
import type { Terms, Words } from "./words.ts";

/** What the search reads of one tool. */
export interface Document {
  /** Each term, and how much it counts: its occurrences, weighted by where they stand. */
  readonly counts: ReadonlyMap<string, number>;
  /** How many of the terms, from the first, are in the tool's name. */
  readonly named: number;
  /** The terms of the server's name. */
  readonly server: readonly string[];
}

/** Enough for every honest tool. Whatever a hostile one sends, its document is small and quickly made. */
const most = { terms: 600, inName: 40, inDescription: 300, inParameter: 30, parameters: 100, depth: 3 };
const longest = { name: 512, description: 16_000, parameter: 2_000 };

/** `server` is what `nameTerms` makes of the server's name, once for all its tools. */
export function documentOf(tool: ToolEntry, server: Terms, words: Words): Document {
  const { weights, whole } = tuning;
  const { name, renamedTo = name, title, description = "" } = tool;
  const draft = new Draft(words);
  const names = [...new Set([renamedTo, name, title ?? name])].map((one) => nameTerms(one, words));
  for (const { parts } of names) draft.add(parts, weights.name);
  const named = draft.counts.size;
  draft.add(server.parts, weights.server);
  for (const { wholes } of [...names, server]) draft.add(wholes, weights.name * whole);
  const about = words.termsOf(description.slice(0, longest.description), most.inDescription);
  draft.add(about.parts, weights.description);
  draft.add(about.wholes, weights.description * whole);
  draft.addParameters(tool.inputSchema, 0);
  return { counts: draft.counts, named, server: server.parts };
}

/** Names keep their stop words: a tool may be called `get`. */
export function nameTerms(name: string, words: Words): Terms {
  return words.termsOf(name.slice(0, longest.name), most.inName, true);
}

class Draft {
  readonly counts = new Map<string, number>();
  readonly #words: Words;
  #parameters = 0;

  constructor(words: Words) {
    this.#words = words;
  }

  add(terms: readonly string[], weight: number): void {
    for (const term of terms) {
      const count = this.counts.get(term);
      if (count !== undefined) this.counts.set(term, count + weight);
      else if (this.counts.size < most.terms) this.counts.set(term, weight);
    }
  }

  /** Names and descriptions of the parameters, with those of nested objects. */
  addParameters({ properties }: Record<string, unknown>, depth: number): void {
    if (!isRecord(properties) || depth >= most.depth) return;
    const { weights } = tuning;
    for (const name in properties) {
      if (!Object.hasOwn(properties, name)) continue;
      if (++this.#parameters > most.parameters) return;
      this.add(nameTerms(name, this.#words).parts, weights.parameter);
      const parameter = properties[name];
      if (!isRecord(parameter)) continue;
      const { description, items } = parameter;
      if (typeof description === "string") {
        const text = description.slice(0, longest.parameter);
        this.add(this.#words.termsOf(text, most.inParameter).parts, weights.parameterText);
      }
      this.addParameters(parameter, depth + 1);
      if (isRecord(items)) this.addParameters(items, depth + 1);
    }
  }
}
