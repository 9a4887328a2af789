import type { CallOptions, ToolEntry, View } from "../../index.ts";
import { canonicalJson, sha256 } from "../../lib/canonical.ts";
import type { CallContext } from "./options.ts";

/** How many questions one agent remembers. */
const mostRemembered = 1_000;

/** What people were asked about by an SDK, so that an answer counts once and for nothing else. */
export class AskedCalls {
  readonly #view: View;
  /** By the SDK's id of the call; undefined once the answer was used. */
  readonly #prints = new Map<string, string | undefined>();
  /** For each run, the definitions of the tools that somebody approved for all its calls. */
  readonly #lasting = new WeakMap<object, Map<string, string>>();

  constructor(view: View) {
    this.#view = view;
  }

  remember(callId: string, tool: ToolEntry, args: Record<string, unknown>): void {
    this.#set(callId, printOf(tool, args));
  }

  /** Allows exactly the call that somebody approved; undefined if that was another one, or was made already. */
  async approval(
    id: string,
    args: Record<string, unknown>,
    { callId, isAboutMore, run, isInner, signal }: CallContext,
  ): Promise<CallOptions["approve"]> {
    const asked = callId === undefined ? "unknown" : this.#use(callId);
    const isByLasting = asked === "unknown" && isAboutMore === true;
    const isAsAsked = (tool: ToolEntry): boolean => {
      if (asked !== "unknown") return asked.print === printOf(tool, args);
      return !isAboutMore || (run !== undefined && this.#covers(run, tool, !isInner));
    };
    const tool = await this.#view.findTool(id, { signal });
    if (!isAsAsked(tool)) return undefined;
    if (asked !== "unknown" && isAboutMore && run) this.#keep(run, tool);
    // The definition may change until the question comes.
    return async ({ toolId, remember }) => {
      if (toolId !== id || !isAsAsked(await this.#view.findTool(id, { signal })))
        return { decision: "deny", reason: "the tool has changed since the call was approved" };
      if (isByLasting && remember.session === undefined)
        return { decision: "deny", reason: "each of its calls needs an approval of its own" };
      return { decision: "allow" };
    };
  }

  /** Somebody approved every call of the tool in this run. */
  #keep(run: object, tool: ToolEntry): void {
    this.#lastingOf(run).set(tool.id, printOf(tool));
  }

  /**
   * True if somebody approved every call of the tool, and it is still defined as it was then. A run that goes on in another
   * process knows the names only: with `isNamed`, the SDK's approval is for this tool, and holds as it is defined now.
   */
  #covers(run: object, tool: ToolEntry, isNamed: boolean): boolean {
    const known = this.#lastingOf(run).get(tool.id);
    if (known !== undefined) return known === printOf(tool);
    if (isNamed) this.#keep(run, tool);
    return isNamed;
  }

  #lastingOf(run: object): Map<string, string> {
    let tools = this.#lasting.get(run);
    if (!tools) this.#lasting.set(run, (tools = new Map()));
    return tools;
  }

  /** Uses the answer to a question up. `unknown` if this agent did not ask it: perhaps another process did. */
  #use(callId: string): { print: string | undefined } | "unknown" {
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

/** The same for two calls only if they are of one tool, defined alike, with equal arguments; without those, for two tools. */
function printOf(tool: ToolEntry, args?: Record<string, unknown>): string {
  const { id, server, name, title, description, annotations, raw } = tool;
  return sha256(canonicalJson([id, server, name, title, description, annotations, raw, args ?? null]));
}
