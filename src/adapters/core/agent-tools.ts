import { innerCall, metaNames } from "../../host.ts";
import { PlugboardError, isMetaName, isPlugboardError } from "../../index.ts";
import type { Deferral, MetaName } from "../../host.ts";
import type { CallOptions, CallResult, MetaTools, SchemaTarget, ToolEntry, View } from "../../index.ts";
import { parseArguments } from "./arguments.ts";
import { AskedCalls } from "./asked-calls.ts";
import { Definitions } from "./definition.ts";
import type { Definition, SetAside } from "./definition.ts";
import { failureText, unexpectedText } from "./failure.ts";
import type { Provider } from "./media.ts";
import type { AgentOptions, CallContext } from "./options.ts";
import { assertFree, callOwn } from "./own-tools.ts";
import type { OwnRuns } from "./own-tools.ts";
import { fromOutside, partsFromOutside, saidByStrangers } from "./outside.ts";
import { failed, modelParts, modelResult } from "./parts.ts";
import type { ModelResult } from "./parts.ts";
import { handleOf, readResult, readResultName, readResultTool } from "./read-result.ts";
import { endsTurn } from "./turn.ts";

/** What an adapter makes of tools in its SDK's shape. */
export interface Shape {
  /** What the definitions are compiled for. */
  target: SchemaTarget;
  /** Who gets the media. Without it, they keep the narrowest limits of all. */
  provider?: Provider | undefined;
  /** True if the SDK takes tools while an agent runs: then found tools are added under their own ids. */
  canGrow?: boolean;
  /** How calls of the program's own tools are run; only their names count where the SDK runs them. */
  own?: OwnRuns | undefined;
}

/** The tools of a view for one agent, and the one way to call them. */
export class AgentTools {
  /** What the model is shown. */
  readonly definitions: Definition[];
  /** Tools that the model is not shown, and why. */
  readonly setAside: SetAside[];
  /** Text for a system prompt: which servers there are, and how their tools are found. */
  readonly instructions: string;
  /** Whether tools are searched for instead of being shown. */
  readonly deferral: Deferral;
  /** Called for each tool that the model can use from now on, if the SDK takes them late. */
  onAdded: ((definition: Definition) => void) | undefined;
  readonly #view: View;
  readonly #options: AgentOptions;
  readonly #made: Definitions;
  readonly #canGrow: boolean;
  readonly #provider: Provider;
  readonly #own: OwnRuns;
  readonly #known: Map<string, Definition>;
  /** The ids of tools that were added because the model found them. */
  readonly #found = new Set<string>();
  readonly #asked: AskedCalls;

  private constructor(view: View, options: AgentOptions, shape: Shape, made: Definitions, offer: Offer) {
    this.#view = view;
    this.#asked = new AskedCalls(view);
    this.#options = options;
    this.#made = made;
    this.#canGrow = shape.canGrow === true;
    this.#provider = shape.provider ?? "unknown";
    this.#own = shape.own ?? new Map();
    this.definitions = offer.definitions;
    this.setAside = offer.setAside;
    this.instructions = offer.instructions;
    this.deferral = offer.deferral;
    // Where tools cannot be added later, a way to read cut results has to be there from the beginning.
    if (!this.#canGrow) this.definitions.push(readResultTool);
    this.#known = new Map(this.definitions.map((definition) => [definition.name, definition]));
    assertFree(this.#own.keys(), (name) => name === readResultName || this.#known.has(name));
  }

  /** `before` is an earlier offer to the same agent: what it found stays. */
  static async offer(
    view: View,
    options: AgentOptions,
    shape: Shape,
    before?: AgentTools,
  ): Promise<AgentTools> {
    const { signal } = options;
    const { tools, meta, deferral } = await view.offer({ signal, before: before?.deferral });
    const made = new Definitions(view, shape.target, options.approval);
    const { definitions, setAside } = await made.all(tools);
    const agent = new AgentTools(view, options, shape, made, {
      definitions: [...meta.map((tool) => made.ofMeta(tool)), ...definitions],
      setAside,
      instructions: await instructionsOf(view, deferral.deferred),
      deferral,
    });
    if (before) await agent.#keep(before);
    return agent;
  }

  async #keep(before: AgentTools): Promise<void> {
    const known = new Map((await this.#view.tools({ wait: false })).map((tool) => [tool.id, tool]));
    await this.#addFound([...before.#found].flatMap((id) => known.get(id) ?? []));
    if (before.#known.has(readResultName)) this.#add(readResultTool);
  }

  /**
   * A call by a model. What goes wrong is a result, unless exceptions are wished for. Always throws if a person ended the
   * turn (`endsTurn`), and then ends the other calls of the turn.
   */
  async call(name: string, given: unknown, context: CallContext = {}): Promise<ModelResult> {
    const { turn, signal } = context;
    try {
      if (!turn) return await this.#called(name, given, context);
      return await turn.run(signal, (own) => this.#called(name, given, { ...context, signal: own }));
    } catch (error) {
      if (this.#options.errors === "throw" || endsTurn(error)) throw error;
      // One call of several must not lose the results of the others, whatever is wrong.
      return failed(isPlugboardError(error) ? this.#failureText(error) : unexpectedText(error));
    }
  }

  /**
   * True if somebody has to be asked about a call. With `callId`, what they are asked about is remembered: only that is
   * approved by their answer. A call that cannot be made at all meets its own error, not a question.
   */
  async mustAsk(name: string, given: unknown, callId?: string, signal?: AbortSignal): Promise<boolean> {
    try {
      const args = parseArguments(name, given);
      const { approval } = this.#options;
      const isMeta = this.deferral.deferred && isMetaName(name);
      if (name === readResultName || (isMeta && name !== metaNames.call)) return false;
      const asked = isMeta ? innerCall(args) : { name, arguments: args };
      const tool = await (await this.#metaTools()).find(asked.name, signal);
      const { outcome } = await this.#view.checkCall(tool.id, asked.arguments, { approval, signal });
      if (outcome !== "asked") return false;
      if (callId !== undefined) this.#asked.remember(callId, tool, asked.arguments);
      return true;
    } catch (error) {
      if (!isPlugboardError(error)) throw error;
      return false;
    }
  }

  async #called(name: string, given: unknown, context: CallContext): Promise<ModelResult> {
    const own = this.#own.get(name);
    if (own) return callOwn(name, given, own, context, this.#options);
    const args = parseArguments(name, given);
    if (name === readResultName) return this.#read(args);
    if (this.deferral.deferred && isMetaName(name)) return this.#callMeta(name, args, context);
    return this.#callTool(name, args, context);
  }

  async #callTool(name: string, args: Record<string, unknown>, context: CallContext): Promise<ModelResult> {
    // A name that is not offered can be one that was found; another gets similar names.
    const known = this.#known.get(name)?.server;
    const { id, server } =
      known === undefined
        ? await (await this.#metaTools()).find(name, context.signal)
        : { id: name, server: known };
    const { approval } = this.#options;
    const approve = context.isApproved ? await this.#asked.approval(id, args, context) : undefined;
    if (!approve && context.isApproved && context.isAboutMore && context.isInner)
      await this.#assertNotAsked(id, args, context);
    const meta = await this.#meta(id, args, context);
    const options = { ...this.#callOptions(name, context), approval, meta, ...(approve && { approve }) };
    return await this.#presented(await this.#view.callTool(id, args, options), server);
  }

  /** Throws if somebody has to be asked about a call: the SDK asks about tools by their own names only. */
  async #assertNotAsked(id: string, args: Record<string, unknown>, { signal }: CallContext): Promise<void> {
    const { approval } = this.#options;
    const { outcome } = await this.#view.checkCall(id, args, { approval, signal });
    if (outcome !== "asked") return;
    const tool = await this.#view.findTool(id, { signal });
    if (this.#canGrow) await this.#addFound([tool]);
    const isOffered = this.#known.has(id);
    throw new PlugboardError(
      "approval-denied",
      `The call of ${tool.name} on "${tool.server}" was not approved: what was approved is another tool.`,
      {
        server: tool.server,
        tool: id,
        ...(isOffered && { advice: `Call it by its own name, ${id}, so that the user can be asked.` }),
      },
    );
  }

  async #meta(
    tool: string,
    args: Record<string, unknown>,
    { callId, meta }: CallContext,
  ): Promise<CallOptions["meta"]> {
    const wanted = await this.#options.meta?.({ tool, arguments: args, callId });
    return wanted || meta ? { ...wanted, ...meta } : undefined;
  }

  async #callMeta(name: MetaName, args: Record<string, unknown>, context: CallContext): Promise<ModelResult> {
    if (name === metaNames.call) return this.#callInner(args, context);
    const found: ToolEntry[] = [];
    const meta = await this.#metaTools((tool) => found.push(tool));
    const result = await meta.call(name, args, { signal: context.signal });
    const parts = await modelParts(result);
    if (name === metaNames.search && this.#canGrow && found.length > 0) {
      await this.#addFound(found);
      parts.push({ type: "text", text: `Call them by these names, or with ${metaNames.call}.` });
    }
    const strangers = new Set(
      found.map(({ server }) => server).filter((server) => this.#made.isUntrusted(server)),
    );
    if (strangers.size > 0) parts.push({ type: "text", text: saidByStrangers([...strangers]) });
    return modelResult(result, parts);
  }

  async #callInner(args: Record<string, unknown>, context: CallContext): Promise<ModelResult> {
    const inner = innerCall(args);
    const meta = await this.#metaTools();
    const tool = await meta.find(inner.name, context.signal);
    try {
      return await this.#callTool(tool.id, inner.arguments, { ...context, isInner: true });
    } catch (error) {
      if (!isPlugboardError(error, "arguments-invalid") || this.#options.errors === "throw") throw error;
      const schema = meta.schema(tool);
      const said = this.#made.isUntrusted(tool.server) ? fromOutside(tool.server, schema) : schema;
      return failed(`${this.#failureText(error)}\n${said}`);
    }
  }

  /** Our three tools. `named` hears of each tool that they name. */
  #metaTools(named?: (tool: ToolEntry) => void): Promise<MetaTools> {
    return this.#view.metaTools({
      nameOf: (tool) => {
        named?.(tool);
        return tool.id;
      },
      find: (name, signal) => this.#view.findTool(name, { signal }),
    });
  }

  /** More than some would crowd the model's context again; the others can be called through `call_tool`. */
  async #addFound(found: readonly ToolEntry[]): Promise<void> {
    const { definitions } = await this.#made.all(found);
    for (const definition of definitions) {
      if (this.#known.has(definition.name) || this.#found.size === mostFound) continue;
      this.#found.add(definition.name);
      this.#add(definition);
    }
  }

  #add(definition: Definition): void {
    if (this.#known.has(definition.name) || this.#own.has(definition.name)) return;
    this.#known.set(definition.name, definition);
    this.definitions.push(definition);
    this.onAdded?.(definition);
  }

  async #read(args: Record<string, unknown>): Promise<ModelResult> {
    const { text, server } = await readResult(this.#view, args);
    const said = this.#made.isUntrusted(server) ? fromOutside(server, text) : text;
    return { parts: [{ type: "text", text: said }], isError: false };
  }

  async #presented(result: CallResult, server: string): Promise<ModelResult> {
    if (this.#canGrow && handleOf(result) !== undefined) this.#add(readResultTool);
    const parts = await modelParts(result, this.#options.media ?? true, this.#provider);
    if (!this.#made.isUntrusted(server)) return modelResult(result, parts);
    return { ...modelResult(result, partsFromOutside(server, parts)), isFromOutside: true };
  }

  #failureText(error: PlugboardError): string {
    const { server } = error;
    const isStranger = server !== undefined && this.#made.isUntrusted(server);
    return failureText(error, isStranger ? server : undefined);
  }

  #callOptions(tool: string, { signal, callId }: CallContext): CallOptions {
    const { onProgress } = this.#options;
    return {
      signal,
      ...(onProgress && {
        onProgress: (progress) => {
          const heard: unknown = onProgress(progress, { tool, callId });
          // What a listener does wrong is not the call's failure.
          if (heard instanceof Promise) heard.catch(() => undefined);
        },
      }),
    };
  }
}

/** How many tools can be found and added in the life of one agent. */
const mostFound = 100;

type Offer = Pick<AgentTools, "definitions" | "setAside" | "instructions" | "deferral">;

async function instructionsOf(view: View, isDeferred: boolean): Promise<string> {
  const summary = await view.summary();
  if (summary === "") return "";
  const how = isDeferred ? `\nTheir tools are not all shown: find them with ${metaNames.search}.` : "";
  return `${summary}${how}`;
}
