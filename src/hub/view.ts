import type { CallOptions, CallResult } from "../calls/call-tool.ts";
import { findMentions } from "../calls/mentions.ts";
import { complete, getPrompt, readResource } from "../calls/resources.ts";
import type { CompletionTarget, PromptMessages, ResourceContents } from "../calls/resources.ts";
import type { ResourceListener } from "../calls/subscriptions.ts";
import type { ForwardOptions } from "../calls/forward-call.ts";
import type { ListedEntry, ListOptions } from "../catalog/settings.ts";
import { narrow } from "../catalog/filter.ts";
import type { Filter, Scope } from "../catalog/filter.ts";
import type { DigestKind } from "../catalog/digest.ts";
import type { PromptCommand } from "../catalog/prompts.ts";
import type { ListKind } from "../catalog/known-list.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { Engine } from "./engine.ts";
import { PlugboardError } from "../errors.ts";
import { explainTool } from "./explain-tool.ts";
import type { ToolExplanation } from "./explain-tool.ts";
import type { RequestOptions } from "./options.ts";
import { interactCapabilities } from "../interact/interact.ts";
import type { EventOf, EventType, PlugboardEvent } from "../events.ts";
import type { Use } from "../servers/connection-key.ts";
import type { Capabilities } from "../servers/rpc/envelope.ts";
import type { JsonRpcAnswer, RawAnswer } from "../servers/rpc/messages.ts";

interface UseOptions {
  signal?: AbortSignal | undefined;
  /** As which account, instead of the configured one. */
  profile?: string | undefined;
}

/** How a view is narrowed, and on whose behalf it is used. */
export interface ViewOptions extends Omit<Filter, "alsoTools">, Omit<Use, "account"> {
  /** As which account servers are used, instead of the configured one. Those without logins are used as they are. */
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

/** A hub narrowed by servers or tools, used on somebody's behalf. Everything that can be used is used through one. */
export class View {
  protected readonly engine: Engine;
  readonly #scope: Scope;
  /** The same as other accounts, for single calls. */
  readonly #accounts = new Map<string, View>();

  constructor(engine: Engine, scope: Scope) {
    this.engine = engine;
    this.#scope = scope;
  }

  /** Narrows further; a view never shows more than the one it was made from. */
  view(options: ViewOptions): View {
    const { caller, profile, project, interact, capabilities, ...filter } = options;
    const { use } = this.#scope;
    if (use.account !== undefined && profile !== undefined && use.account !== profile)
      throw new PlugboardError("usage-invalid", `This view already uses the profile "${use.account}".`);
    const own = interact || capabilities ? capabilitiesOf(use, options) : undefined;
    if (own) this.engine.declare(own);
    return new View(this.engine, {
      filter: narrow(this.#scope.filter, filter),
      use: {
        caller: use.caller ?? caller,
        account: use.account ?? profile,
        project: use.project ?? project,
        interact: interact ?? use.interact,
        capabilities: own ?? use.capabilities,
      },
    });
  }

  /** Calls `listener` for each event of a type that concerns this view; returns how to stop that. */
  on<T extends EventType>(type: T, listener: (event: EventOf<T>) => void): () => void {
    return this.engine.events.listen((event) => {
      if (event.type === type && this.#hears(event)) listener(event as EventOf<T>);
    });
  }

  /** What is visible here, and whose it is: a connection may be everybody's, a call and a question have one caller. */
  #hears(event: PlugboardEvent): boolean {
    const { use } = this.#scope;
    if (!("server" in event)) return this.#scope === this.engine.root;
    if (event.server !== "" && !this.engine.catalog.isVisible(event.server, this.#scope)) return false;
    const isPersonal = event.type.startsWith("call-") || event.type.startsWith("question-");
    const isForeign = event.caller === undefined ? isPersonal : event.caller !== use.caller;
    if (use.caller !== undefined && isForeign) return false;
    if (use.project !== undefined && event.project !== undefined && event.project !== use.project)
      return false;
    return use.account === undefined || event.account === undefined || event.account === use.account;
  }

  /** The tools that may be called, in a stable order. Waits for servers whose tools are not known yet. */
  async tools(options: ListOptions = {}): Promise<ToolEntry[]> {
    return (await this.allTools(options)).filter(({ status }) => status === "available");
  }

  /** The same with those that are hidden or set aside, each with its reason. */
  allTools(options: ListOptions = {}): Promise<ToolEntry[]> {
    return this.engine.catalog.tools(this.#scope, options);
  }

  /** Answers with the server's own result, within the output limits. `isError: true` is a result, not an exception. */
  async callTool(
    id: string,
    args: Record<string, unknown> = {},
    options: CallOptions = {},
  ): Promise<CallResult> {
    return this.engine.calls.callTool(id, args, options, this.#as(options.profile).#scope);
  }

  /**
   * Passes a call on, for programs that stand between a client and the servers: found, visible, arguments, approval,
   * deadline and events as for `callTool`, the server's own answer untouched, `input_required` and errors included.
   */
  async forwardCall(
    id: string,
    params: Record<string, unknown> | Buffer,
    options: ForwardOptions & { raw: true },
  ): Promise<JsonRpcAnswer | RawAnswer>;
  async forwardCall(
    id: string,
    params: Record<string, unknown> | Buffer,
    options?: ForwardOptions,
  ): Promise<JsonRpcAnswer>;
  async forwardCall(
    id: string,
    params: Record<string, unknown> | Buffer,
    options: ForwardOptions = {},
  ): Promise<JsonRpcAnswer | RawAnswer> {
    return this.engine.calls.forwardCall(id, params, options, this.#as(options.profile).#scope);
  }

  /** The tool that an id means, `server.tool` or a bare name that only one server has; hidden ones too. */
  findTool(id: string, options: ListOptions = {}): Promise<ToolEntry> {
    const find = () => this.engine.catalog.find(id, this.#scope, options);
    const { wait = true, signal } = options;
    return wait ? this.engine.onDemand.run({ use: this.#scope.use, signal }, find) : find();
  }

  /** Which servers' lists are known, and since when. Starts nothing. */
  listStates(kind: ListKind = "tools"): Promise<ListState[]> {
    const { catalog } = this.engine;
    return Promise.all(
      catalog.serverNames(this.#scope).map(async (server) => {
        const list = await catalog.list(server, kind, this.#scope, { wait: false });
        return { server, isSnapshot: list?.isSnapshot ?? false, ...(list && { at: list.at }) };
      }),
    );
  }

  resources(options: ListOptions = {}): Promise<ListedEntry[]> {
    return this.engine.catalog.entries("resources", this.#scope, options);
  }

  resourceTemplates(options: ListOptions = {}): Promise<ListedEntry[]> {
    return this.engine.catalog.entries("resourceTemplates", this.#scope, options);
  }

  prompts(options: ListOptions = {}): Promise<ListedEntry[]> {
    return this.engine.catalog.entries("prompts", this.#scope, options);
  }

  commands(options: ListOptions = {}): Promise<PromptCommand[]> {
    return this.engine.catalog.commands(this.#scope, options);
  }

  async readResource(
    server: string,
    uri: string,
    { signal, profile }: UseOptions = {},
  ): Promise<ResourceContents> {
    const view = this.#as(profile);
    return readResource(server, uri, view.#ask(server, signal), view.#answer(server, signal));
  }

  /** Calls `listener` whenever the server says that the resource changed, also after a reconnect; returns how to stop. */
  async subscribeResource(
    server: string,
    uri: string,
    listener: ResourceListener,
    { signal, profile }: UseOptions = {},
  ): Promise<() => Promise<void>> {
    this.#assertVisible(server);
    const { subscriptions, servers } = this.engine;
    const { use } = this.#as(profile).#scope;
    return subscriptions.subscribe(servers.key(server, use), use, uri, listener, signal);
  }

  /** A prompt by its id (`mcp__server__prompt`), or by `server.prompt`. */
  async getPrompt(
    id: string,
    args: Record<string, string> = {},
    { signal, profile }: UseOptions = {},
  ): Promise<PromptMessages> {
    const view = this.#as(profile);
    const { server, name } = await view.findPrompt(id, { signal });
    return getPrompt(server, name, args, view.#ask(server, signal), view.#answer(server, signal));
  }

  /** A prompt by its id, `server.prompt`, `server/prompt`, or a bare name that only one server has. */
  findPrompt(id: string, options: ListOptions = {}): Promise<PromptCommand> {
    return this.engine.catalog.findPrompt(id, this.#scope, options);
  }

  /** What an argument of a prompt or a resource template could be. */
  async complete(
    server: string,
    target: CompletionTarget,
    argument: { name: string; value: string },
    known: Record<string, string> = {},
    { signal, profile }: UseOptions = {},
  ): Promise<string[]> {
    return complete(target, argument, known, this.#as(profile).#ask(server, signal));
  }

  /** Every `@server:uri` in a text, read. A resource that cannot be read carries its error instead. */
  async mentions(
    text: string,
    options: UseOptions = {},
  ): Promise<{ server: string; uri: string; contents?: ResourceContents; error?: PlugboardError }[]> {
    const found = findMentions(text, this.engine.catalog.serverNames(this.#scope));
    return Promise.all(
      found.map(({ server, uri }) =>
        this.readResource(server, uri, options).then(
          (contents) => ({ server, uri, contents }),
          (error: PlugboardError) => ({ server, uri, error }),
        ),
      ),
    );
  }

  /** A page of a result that was too large, or what is found in it. */
  async result(handle: string, options: { page?: number; find?: string } = {}) {
    const { caller } = this.#scope.use;
    return (await this.engine.calls.results()).read(handle, {
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
    const counts = await this.engine.catalog.counts(this.#scope);
    return [...counts].map(([server, count]) => `${server}: ${count} tools`).join("\n");
  }

  /** A short text that changes exactly when the known catalog of this view does. Starts nothing. */
  digest(kind?: DigestKind): Promise<string> {
    return this.engine.catalog.digest(this.#scope, kind);
  }

  /**
   * The raw door: the server's own answer or error, untouched. Calls of tools have a door of their own, `forwardCall`,
   * so that no rule has a way around it.
   */
  async request(
    method: string,
    params: Record<string, unknown>,
    { server, profile, ...options }: RequestOptions,
  ): Promise<JsonRpcAnswer> {
    if (method === "tools/call") {
      throw new PlugboardError("usage-invalid", "`request` calls no tools.", {
        server,
        hint: "Use `callTool`, or `forwardCall` for the server's own answer.",
      });
    }
    const { tools, bundle } = this.#scope.filter;
    if (method === "tools/list" && (tools ?? bundle) !== undefined) {
      const hint = "Use `tools()`, which shows what this view may see.";
      throw new PlugboardError("usage-invalid", "`request` lists no tools in a narrowed view.", {
        server,
        hint,
      });
    }
    this.#assertVisible(server);
    const { requests } = this.engine;
    const answer = await requests.request(this.#as(profile).#scope, server, method, params, options);
    return answer as JsonRpcAnswer;
  }

  /** This view as another account. One and the same for each, because much is remembered by view. */
  #as(profile: string | undefined): View {
    if (profile === undefined || profile === this.#scope.use.account) return this;
    const view = this.#accounts.get(profile) ?? this.view({ profile });
    this.#accounts.set(profile, view);
    return view;
  }

  #ask(server: string, signal: AbortSignal | undefined) {
    this.#assertVisible(server);
    return async (method: string, params: Record<string, unknown>) =>
      (await this.engine.requests.request(this.#scope, server, method, params, { signal })) as JsonRpcAnswer;
  }

  /** Answers input that a modern server requires. */
  #answer(server: string, signal: AbortSignal | undefined) {
    const { use } = this.#scope;
    const { account } = this.engine.servers.key(server, use);
    return (method: string, params: Record<string, unknown>) =>
      this.engine.answers({
        asking: { server, caller: use.caller, account },
        interact: use.interact ?? {},
        method,
        params,
        signal,
      });
  }

  #assertVisible(server: string): void {
    this.engine.servers.entry(server);
    if (!this.engine.catalog.isVisible(server, this.#scope)) {
      throw new PlugboardError("server-unknown", `There is no server "${server}".`, { server });
    }
  }
}

/** What a view with an `interact` or capabilities of its own can do. */
function capabilitiesOf(use: Use, { interact, capabilities }: ViewOptions): Capabilities {
  return { ...(interact ? interactCapabilities(interact) : use.capabilities), ...capabilities };
}
