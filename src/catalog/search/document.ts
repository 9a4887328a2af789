import { isRecord } from "../../lib/record.ts";
import type { ToolEntry } from "../tool-entry.ts";
import { tuning } from "./tuning.ts";
import { allTermsOf, termsOf } from "./words.ts";

/** What the search knows about one tool. */
export interface Document {
  /** The terms, each once. */
  readonly terms: readonly string[];
  /** How much each of them counts: occurrences, weighted by where they stand. */
  readonly counts: Float32Array;
  /** How many of the terms, from the first, are in the name. */
  readonly named: number;
  /** The sum of all counts. */
  readonly length: number;
}

/** Enough for every honest tool; whatever a hostile one sends, a document is small and quickly made. */
const most = { terms: 600, nameTerms: 40, textTerms: 400, parameterTerms: 40, parameters: 100, depth: 3 };
const mostCharacters = 16_000;

export function documentOf(tool: ToolEntry): Document {
  const { weights } = tuning;
  const draft = new Draft();
  const { name, renamedTo = name, title, description = "", server } = tool;
  draft.add(nameTerms(renamedTo), weights.name);
  if (renamedTo !== name) draft.add(nameTerms(name), weights.name);
  if (title !== undefined) draft.add(nameTerms(title), weights.title);
  const named = draft.size;
  draft.add(nameTerms(server), weights.server);
  draft.add(termsOf(description.slice(0, mostCharacters), most.textTerms), weights.description);
  draft.addParameters(tool.inputSchema, 0);
  return draft.finish(named);
}

/** Names keep their stop words: a tool may be called `get`. */
function nameTerms(name: string): string[] {
  return allTermsOf(name.slice(0, 512), most.nameTerms);
}

class Draft {
  readonly #counts = new Map<string, number>();
  #parameters = 0;

  get size(): number {
    return this.#counts.size;
  }

  add(terms: readonly string[], weight: number): void {
    for (const term of terms) {
      const count = this.#counts.get(term);
      if (count !== undefined) this.#counts.set(term, count + weight);
      else if (this.#counts.size < most.terms) this.#counts.set(term, weight);
    }
  }

  /** Names and descriptions of the parameters, with those of nested objects. */
  addParameters(schema: Record<string, unknown>, depth: number): void {
    const { properties } = schema;
    if (!isRecord(properties) || depth >= most.depth) return;
    const { weights } = tuning;
    for (const name in properties) {
      if (!Object.hasOwn(properties, name)) continue;
      if (++this.#parameters > most.parameters) return;
      this.add(nameTerms(name), weights.parameter);
      const parameter = properties[name];
      if (!isRecord(parameter)) continue;
      const { description, items } = parameter;
      if (typeof description === "string")
        this.add(termsOf(description.slice(0, 2_000), most.parameterTerms), weights.parameterText);
      this.addParameters(parameter, depth + 1);
      if (isRecord(items)) this.addParameters(items, depth + 1);
    }
  }

  finish(named: number): Document {
    const terms = [...this.#counts.keys()];
    const counts = Float32Array.from(this.#counts.values());
    const length = counts.reduce((sum, count) => sum + count, 0);
    return { terms, counts, named, length };
  }
}
