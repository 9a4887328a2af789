import type { CallOptions, CallResult } from "../calls/call-tool.ts";
import { findMentions } from "../calls/mentions.ts";
import { complete, getPrompt, readResource } from "../calls/resources.ts";
import type { CompletionTarget, PromptMessages, ResourceContents } from "../calls/resources.ts";
import type { ResourceListener } from "../calls/subscriptions.ts";
import type { ListedEntry, Narrowing } from "../catalog/catalog.ts";
import type { ListKind } from "../catalog/server-lists.ts";
import { toolId } from "../catalog/names.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { Engine } from "./engine.ts";
import { PlugboardError } from "../errors.ts";
import { explainTool } from "./explain-tool.ts";
import type { ToolExplanation } from "./explain-tool.ts";
import type { RequestOptions } from "./options.ts";
import { nearest } from "../lib/suggest.ts";
import type { JsonRpcAnswer } from "../servers/rpc/lane.ts";

export interface ListOptions {
  /** `false` answers at once with what is known, and starts nothing. */
  wait?: boolean;
}

interface UseOptions {
  signal?: AbortSignal | undefined;
  /** As which account, instead of the configured one. */
  profile?: string | undefined;
}

/** How much is known of one server's list. */
export interface ListState {
  server: string;
  /** When the server said so, milliseconds since the epoch; absent when nothing is known. */
  at?: number;
  /** Not asked in this run: remembered from an earlier one. */
  isSnapshot: boolean;
}

/** A prompt as something that a person types: `/mcp__server__prompt`. */
export interface PromptCommand {
  command: string;
  id: string;
  server: string;
  name: string;
  title?: string;
  description?: string;
  arguments: { name: string; description?: string; required: boolean }[];
}

/** A hub narrowed by servers, tools, caller or account. Everything that can be used is used through one of these. */
export class View {
  protected readonly engine: Engine;
  readonly #narrowing: Narrowing;
  /** The same as other accounts, for single calls. */
  readonly #accounts = new Map<string, View>();

  constructor(engine: Engine, narrowing: Narrowing) {
    this.engine = engine;
    this.#narrowing = narrowing;
  }

  /** Narrows further; a view never shows more than the one it was made from. */
  view(narrowing: Narrowing): View {
    return new View(this.engine, intersect(this.#narrowing, narrowing));
  }

  /** The tools that may be called, in a stable order. Waits for servers whose tools are not known yet. */
  async tools({ wait = true }: ListOptions = {}): Promise<ToolEntry[]> {
    return (await this.allTools({ wait })).filter(({ standing }) => standing === "offered");
  }

  /** The same with those that are hidden or set aside, each with its reason. */
  allTools({ wait = true }: ListOptions = {}): Promise<ToolEntry[]> {
    return this.engine.catalog.tools(this.#narrowing, wait);
  }

  /** Answers with the server's own result, within the output limits. `isError: true` is a result, not an exception. */
  async callTool(
    id: string,
    args: Record<string, unknown> = {},
    options: CallOptions = {},
  ): Promise<CallResult> {
    return this.engine.callTool(id, args, options, this.#as(options.profile).#narrowing);
  }

  /** The tool that an id means, `server.tool` or a bare name that only one server has; hidden ones too. */
  findTool(id: string, { wait = true }: ListOptions = {}): Promise<ToolEntry> {
    const find = () => this.engine.catalog.find(id, this.#narrowing, wait);
    return wait ? this.engine.onDemand.run(this.#narrowing, find) : find();
  }

  /** Which servers' lists are known, and since when. Starts nothing. */
  listStates(kind: ListKind = "tools"): Promise<ListState[]> {
    const { catalog } = this.engine;
    return Promise.all(
      catalog.serverNames(this.#narrowing).map(async (server) => {
        const list = await catalog.list(server, kind, this.#narrowing, false);
        return { server, isSnapshot: list?.isSnapshot ?? false, ...(list && { at: list.at }) };
      }),
    );
  }

  resources({ wait = true }: ListOptions = {}): Promise<ListedEntry[]> {
    return this.engine.catalog.entries("resources", this.#narrowing, wait);
  }

  resourceTemplates({ wait = true }: ListOptions = {}): Promise<ListedEntry[]> {
    return this.engine.catalog.entries("resourceTemplates", this.#narrowing, wait);
  }

  prompts({ wait = true }: ListOptions = {}): Promise<ListedEntry[]> {
    return this.engine.catalog.entries("prompts", this.#narrowing, wait);
  }

  async commands(options: ListOptions = {}): Promise<PromptCommand[]> {
    return (await this.prompts(options)).flatMap(({ server, raw }) => toCommand(server, raw, this.engine));
  }

  async readResource(
    server: string,
    uri: string,
    { signal, profile }: UseOptions = {},
  ): Promise<ResourceContents> {
    const ask = this.#as(profile).#ask(server, signal);
    return readResource(server, uri, ask, this.engine.answer(server, signal));
  }

  /** Calls `listener` whenever the server says that the resource changed, also after a reconnect; returns how to stop. */
  subscribeResource(server: string, uri: string, listener: ResourceListener): Promise<() => Promise<void>> {
    this.#assertVisible(server);
    return this.engine.subscribe(server, uri, listener, this.#narrowing);
  }

  /** A prompt by its id (`mcp__server__prompt`), or by `server.prompt`. */
  async getPrompt(
    id: string,
    args: Record<string, string> = {},
    { signal, profile }: UseOptions = {},
  ): Promise<PromptMessages> {
    const view = this.#as(profile);
    const { server, name } = await view.findPrompt(id);
    return getPrompt(server, name, args, view.#ask(server, signal), this.engine.answer(server, signal));
  }

  async findPrompt(id: string): Promise<PromptCommand> {
    const commands = await this.commands();
    const wanted = id.replace(/^\//, "");
    const found = commands.find(
      (one) =>
        one.id === wanted || wanted === `${one.server}.${one.name}` || wanted === `${one.server}/${one.name}`,
    );
    const named = commands.filter(({ name }) => name === wanted);
    const prompt = found ?? (named.length === 1 ? named[0] : undefined);
    if (prompt) return prompt;
    const near = nearest(
      wanted,
      commands.flatMap(({ id: one, name }) => [one, name]),
    );
    throw new PlugboardError("tool-unknown", `There is no prompt "${wanted}".`, {
      hint: near ? `Did you mean ${near}?` : "`plugboard prompts` lists them.",
    });
  }

  /** What an argument of a prompt or a resource template could be. */
  async complete(
    server: string,
    target: CompletionTarget,
    argument: { name: string; value: string },
    known: Record<string, string> = {},
  ): Promise<string[]> {
    return complete(target, argument, known, this.#ask(server, undefined));
  }

  /** Every `@server:uri` in a text, read. A resource that cannot be read carries its error instead. */
  async mentions(
    text: string,
  ): Promise<{ server: string; uri: string; contents?: ResourceContents; error?: PlugboardError }[]> {
    const found = findMentions(text, this.engine.catalog.serverNames(this.#narrowing));
    return Promise.all(
      found.map(({ server, uri }) =>
        this.readResource(server, uri).then(
          (contents) => ({ server, uri, contents }),
          (error: PlugboardError) => ({ server, uri, error }),
        ),
      ),
    );
  }

  /** A page of a result that was too large, or what is found in it. */
  async result(handle: string, options: { page?: number; find?: string } = {}) {
    const { caller } = this.#narrowing;
    return (await this.engine.results()).read(handle, {
      ...options,
      ...(caller !== undefined && { caller }),
    });
  }

  /** Why a tool is offered, hidden or asked about, and which file and line says so. */
  async explainTool(id: string, options: ListOptions = {}): Promise<ToolExplanation> {
    const tool = await this.findTool(id, options);
    return explainTool(tool, this.engine.servers.config);
  }

  /** One line per server for a prompt: what there is, without any definition. */
  async summary(): Promise<string> {
    const tools = await this.tools({ wait: false });
    return this.engine.catalog
      .serverNames(this.#narrowing)
      .map((server) => `${server}: ${tools.filter((tool) => tool.server === server).length} tools`)
      .join("\n");
  }

  /** The raw door: the server's own answer or error, untouched. */
  async request(
    method: string,
    params: Record<string, unknown>,
    options: RequestOptions,
  ): Promise<JsonRpcAnswer> {
    this.#assertVisible(options.server);
    const { tools, bundle } = this.#narrowing;
    const isRuled = tools !== undefined || bundle !== undefined;
    if (isRuled && method === "tools/call")
      await this.#as(options.profile).#assertCallable(options.server, params["name"]);
    const caller = this.#narrowing.caller ?? options.caller;
    const { profile } = this.#as(options.profile).#narrowing;
    return this.engine.request(method, params, { ...options, caller, profile });
  }

  /** This view as another account. One and the same for each, because much is remembered by view. */
  #as(profile: string | undefined): View {
    if (profile === undefined || profile === this.#narrowing.profile) return this;
    const view = this.#accounts.get(profile) ?? this.view({ profile });
    this.#accounts.set(profile, view);
    return view;
  }

  #ask(server: string, signal: AbortSignal | undefined) {
    this.#assertVisible(server);
    const { caller, profile } = this.#narrowing;
    return (method: string, params: Record<string, unknown>) =>
      this.engine.request(method, params, { server, caller, profile, signal });
  }

  #assertVisible(server: string): void {
    this.engine.servers.entry(server);
    if (!this.engine.catalog.isVisible(server, this.#narrowing)) {
      throw new PlugboardError("server-unknown", `There is no server "${server}".`, { server });
    }
  }

  /** The raw door is no way around the rules of a narrowed view. */
  async #assertCallable(server: string, name: unknown): Promise<void> {
    const listed = await this.engine.catalog.tools({ ...this.#narrowing, servers: [server] }, true);
    if (listed.some((tool) => tool.name === name && tool.standing === "offered")) return;
    throw new PlugboardError(
      "tool-hidden",
      `The tool ${String(name)} of "${server}" is not part of this view.`,
      { server },
    );
  }
}

/** What both allow. Two bundles or two accounts have no common meaning, so the second one is refused. */
function intersect(outer: Narrowing, inner: Narrowing): Narrowing {
  if (outer.profile !== undefined && inner.profile !== undefined && outer.profile !== inner.profile) {
    throw new PlugboardError("usage-invalid", `This view already uses the profile "${outer.profile}".`);
  }
  if (outer.bundle !== undefined && inner.bundle !== undefined && outer.bundle !== inner.bundle) {
    throw new PlugboardError(
      "usage-invalid",
      `This view is already narrowed to the bundle "${outer.bundle}".`,
    );
  }
  const servers =
    outer.servers && inner.servers
      ? inner.servers.filter((one) => outer.servers?.includes(one))
      : (inner.servers ?? outer.servers);
  return {
    ...(servers && { servers }),
    exclude: [...(outer.exclude ?? []), ...(inner.exclude ?? [])],
    bundle: outer.bundle ?? inner.bundle,
    caller: outer.caller ?? inner.caller,
    profile: outer.profile ?? inner.profile,
    tools: inner.tools ?? outer.tools,
    within: [...(outer.within ?? []), ...(outer.tools && inner.tools ? [outer.tools] : [])],
  };
}

function toCommand(server: string, raw: Record<string, unknown>, { catalog }: Engine): PromptCommand[] {
  const { name, title, description } = raw;
  if (typeof name !== "string" || name === "") return [];
  const id = toolId(server, name, catalog.naming);
  const declared = Array.isArray(raw["arguments"]) ? (raw["arguments"] as Record<string, unknown>[]) : [];
  const args = declared.flatMap((argument) => {
    if (typeof argument?.["name"] !== "string") return [];
    const { name: own, description: about, required } = argument;
    return [
      {
        name: own,
        required: required === true,
        ...(typeof about === "string" && { description: about }),
      },
    ];
  });
  return [
    {
      command: `/${id}`,
      id,
      server,
      name,
      arguments: args,
      ...(typeof title === "string" && { title }),
      ...(typeof description === "string" && { description }),
    },
  ];
}
