import type { ToolEntry } from "../../index.ts";
import { canonicalJson, sha256 } from "../../lib/canonical.ts";

/** How many questions one agent remembers. */
const mostRemembered = 1_000;

/** What people were asked about by an SDK, so that an answer counts once and for nothing else. */
export class AskedCalls {
  /** By the SDK's id of the call; undefined once the answer was used. */
  readonly #prints = new Map<string, string | undefined>();

  remember(callId: string, print: string): void {
    this.#set(callId, print);
  }

  /** Uses the answer to a question up. `unknown` if this agent did not ask it: perhaps another process did. */
  use(callId: string): { print: string | undefined } | "unknown" {
    if (!this.#prints.has(callId)) return "unknown";
    const print = this.#prints.get(callId);
    this.#set(callId, undefined);
    return { print };
  }

  #set(callId: string, print: string | undefined): void {
    this.#prints.delete(callId);
    this.#prints.set(callId, print);
    const [oldest] = this.#prints.keys();
    if (this.#prints.size > mostRemembered && oldest !== undefined) this.#prints.delete(oldest);
  }
}

/** The same for two calls only if they are of one tool, defined alike, with equal arguments. */
export function printOf(tool: ToolEntry, args: Record<string, unknown>): string {
  const { id, server, name, title, description, annotations, raw } = tool;
  return sha256(canonicalJson([id, server, name, title, description, annotations, raw, args]));
}
