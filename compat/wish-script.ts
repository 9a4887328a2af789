import { endsLike } from "../test/fixtures/model/turn.ts";
import type { Conversation, ModelScript, ToolResult, Turn } from "../test/fixtures/model/turn.ts";

/** A call of the tool whose name ends like this. */
export interface Wish {
  tool: string;
  /** What to call it with; a function of what the earlier calls brought. */
  args: Args | ((results: readonly (ToolResult | undefined)[]) => Args);
}

type Args = Record<string, unknown>;

/** What the scripted model saw. */
export interface ModelRecord {
  /** How many tools were offered at once, at most. */
  offered: number;
  /** The names under which the wished tools were offered, in the order of the wishes. */
  names: (string | undefined)[];
  /** What came back, in the order of the wishes. */
  results: (ToolResult | undefined)[];
  /** A tool had to be searched for first. */
  searched: boolean;
  /** The text that was looked for was among what the model reads. */
  mentioned: boolean;
  /** Everything that was sent to the model, request by request. */
  requests: string[];
}

/** One wish after the other, and in the end a text with all results. */
export class WishScript implements ModelScript {
  readonly record: ModelRecord;
  readonly #wishes: readonly Wish[];
  readonly #mention: string;

  /** `mention` is a text to look for, such as the beginning of a server's instructions. */
  constructor(wishes: readonly Wish[], mention: string) {
    this.#wishes = wishes;
    this.#mention = JSON.stringify(mention).slice(1, -1);
    this.record = {
      offered: 0,
      names: [],
      results: [],
      searched: false,
      mentioned: false,
      requests: [],
    };
  }

  next(seen: Conversation): Turn {
    const { record } = this;
    record.requests.push(seen.text);
    record.offered = Math.max(record.offered, seen.tools.length);
    record.mentioned ||= seen.text.includes(this.#mention);
    for (const [at, wish] of this.#wishes.entries()) {
      const id = `call_wish_${at}`;
      const result = seen.results.get(id);
      if (result) {
        record.results[at] = result;
        continue;
      }
      const turn = this.#wish(wish, at, seen);
      if (turn) return turn;
    }
    const texts = record.results.flatMap((result) => (result ? [result.text] : []));
    return { text: `The tools answered: ${texts.join(" / ") || "nothing"}` };
  }

  #wish(wish: Wish, at: number, { tools, results, text }: Conversation): Turn | undefined {
    const tool = tools.find(({ name }) => endsLike(name, wish.tool));
    if (tool) {
      this.record.names[at] = `${tool.namespace ? `${tool.namespace} ` : ""}${tool.name}`;
      const args = typeof wish.args === "function" ? wish.args(this.record.results) : wish.args;
      return { calls: [{ id: `call_wish_${at}`, tool, args }] };
    }
    const search = tools.find(({ name }) => searchTools.has(name));
    const id = `call_search_${at}`;
    if (!search || results.has(id)) return undefined;
    this.record.searched = true;
    return { calls: [{ id, tool: search, args: { query: searchFor(wish, text) } }] };
  }
}

const searchTools = new Set(["ToolSearch", "tool_search"]);

/** A deferred tool is mentioned by its name; without a mention only its words can be searched for. */
function searchFor(wish: Wish, text: string): string {
  const mentions = text.match(/\bmcp__[\w-]+/g) ?? [];
  const name = mentions.find((mention) => endsLike(mention, wish.tool));
  return name ? `select:${name}` : wish.tool.replaceAll(/[-_]/g, " ");
}
