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
import { concerns } from "./view-events.ts";
import { PlugboardError } from "../errors.ts";
import { explainTool } from "./explain-tool.ts";
import type { ToolExplanation } from "./explain-tool.ts";
import type { RequestOptions } from "./options.ts";
import { interactCapabilities } from "../interact/interact.ts";
import type { EventOf, EventType } from "../events.ts";
import type { Use } from "../servers/connection-key.ts";
import type { Capabilities } from "../servers/rpc/envelope.ts";
import type { JsonRpcAnswer, RawAnswer } from "../servers/rpc/messages.ts";

interface UseOptions {
  signal?: AbortSignal | undefined;
  /** The account to use instead of the configured one. */
  profile?: string | undefined;
}

/** What a view shows, and who uses it. */
export interface ViewOptions extends Omit<Filter, "alsoTools">, Omit<Use, "account"> {
  /** The account to use instead of the configured one. Does not affect servers without logins. */
  profile?: string | undefined;
}

/** What is known about one server's list. */
export interface ListState {
  server: string;
  /** When the list was read, in milliseconds since the epoch; absent if it is unknown. */
  at?: number;
  /** True if the list comes from an earlier run. */
  isSnapshot: boolean;
}

/** A hub restricted to some servers or tools, for one caller and account. All use of servers goes through a view. */
export class View {
  protected readonly engine: Engine;
  readonly #scope: Scope;
  /** This view with other accounts, for single calls. */
  readonly #accounts = new Map<string, View>();

  constructor(engine: Engine, scope: Scope) {
    this.engine = engine;
    this.#scope = scope;
  }

  /** Returns a narrower view; it never shows more than the view it was created from. */
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

  /** Calls `listener` for each event of this type that concerns this view. Returns a function that removes it. */
  on<T extends EventType>(type: T, listener: (event: EventOf<T>) => void): () => void {
    const { events, catalog, root } = this.engine;
    const isVisible = (server: string) => catalog.isVisible(server, this.#scope);
    return events.listen((event) => {
      const isMeant = event.type === type && concerns(event, this.#scope.use, isVisible);
      // What is about no server is for those who see all of them.
      if (isMeant && ("server" in event || this.#scope === root)) listener(event as EventOf<T>);
    });
  }

  /** The tools that may be called, in a stable order. Waits for servers whose tools are not known yet. */
  async tools(options: ListOptions = {}): Promise<ToolEntry[]> {
    return (await this.allTools(options)).filter(({ status }) => status === "available");
  }

  /** Like `tools`, but includes hidden tools and those set aside, with the reasons. */
  allTools(options: ListOptions = {}): Promise<ToolEntry[]> {
    return this.engine.catalog.tools(this.#scope, options);
  }

  /** Returns the server's result, within the output limits. `isError: true` is a result, not an exception. */
  async callTool(
    id: string,
    args: Record<string, unknown> = {},
    options: CallOptions = {},
  ): Promise<CallResult> {
    return this.engine.calls.callTool(id, args, options, this.#as(options.profile).#scope);
  }

  /**
   * Forwards a call, for programs between a client and the servers. Lookup, visibility, argument checks, approval,
   * deadline and events are the same as for `callTool`, but the server's answer is returned unchanged, including
   * `input_required` and errors.
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

  /** Finds a tool by its id, `server.tool`, or a bare name that only one server has. Also finds hidden tools. */
  findTool(id: string, options: ListOptions = {}): Promise<ToolEntry> {
    const find = () => this.engine.catalog.find(id, this.#scope, options);
    const { wait = true, signal } = options;
    return wait ? this.engine.onDemand.run({ use: this.#scope.use, signal }, find) : find();
  }

  /** Which servers' lists are known, and since when. Starts no server. */
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

  /** Calls `listener` for each change the server reports, also after a reconnect. Returns a function to unsubscribe. */
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

  /** Gets a prompt by its id (`mcp__server__prompt`) or by `server.prompt`. */
  async getPrompt(
    id: string,
    args: Record<string, string> = {},
    { signal, profile }: UseOptions = {},
  ): Promise<PromptMessages> {
    const view = this.#as(profile);
    const { server, name } = await view.findPrompt(id, { signal });
    return getPrompt(server, name, args, view.#ask(server, signal), view.#answer(server, signal));
  }

  /** Finds a prompt by its id, `server.prompt`, `server/prompt`, or a bare name that only one server has. */
  findPrompt(id: string, options: ListOptions = {}): Promise<PromptCommand> {
    return this.engine.catalog.findPrompt(id, this.#scope, options);
  }

  /** Suggests values for an argument of a prompt or resource template. */
  async complete(
    server: string,
    target: CompletionTarget,
    argument: { name: string; value: string },
    known: Record<string, string> = {},
    { signal, profile }: UseOptions = {},
  ): Promise<string[]> {
    return complete(target, argument, known, this.#as(profile).#ask(server, signal));
  }

  /** Finds and reads every `@server:uri` in a text. A resource that cannot be read has its error instead. */
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

  /** Reads a page of a result that was too large, or finds text in it. */
  async result(handle: string, options: { page?: number; find?: string } = {}) {
    const { caller } = this.#scope.use;
    return (await this.engine.calls.results()).read(handle, {
      ...options,
      ...(caller !== undefined && { caller }),
    });
  }

  /** Explains why a tool is available, hidden or needs approval, and which file and line decides it. */
  async explainTool(id: string, options: ListOptions = {}): Promise<ToolExplanation> {
    const tool = await this.findTool(id, options);
    return explainTool(tool, this.engine.servers.config);
  }

  /** One line per server for a prompt: what it offers, without definitions. */
  async summary(): Promise<string> {
    const counts = await this.engine.catalog.counts(this.#scope);
    return [...counts].map(([server, count]) => `${server}: ${count} tools`).join("\n");
  }

  /** A short string that changes exactly when the known catalog of this view changes. Starts no server. */
  digest(kind?: DigestKind): Promise<string> {
    return this.engine.catalog.digest(this.#scope, kind);
  }

  /**
   * Sends a raw request and returns the server's answer or error unchanged. Tool calls must use `forwardCall`, so that
   * they cannot bypass the rules.
   */
  async request(
    method: string,
    params: Record<string, unknown>,
    { server, profile, ...options }: RequestOptions,
  ): Promise<JsonRpcAnswer> {
    if (method === "tools/call") {
      throw new PlugboardError("usage-invalid", "`request` cannot call tools.", {
        server,
        hint: "Use `callTool`, or `forwardCall` for the server's unmodified answer.",
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

  /** This view with another account. Created once per account, because views cache a lot. */
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

  /** Provides the input that a modern server asks for. */
  #answer(server: string, signal: AbortSignal | undefined) {
    return (method: string, params: Record<string, unknown>) =>
      this.engine.requests.answer({ method, params, signal }, this.#scope.use, server);
  }

  #assertVisible(server: string): void {
    this.engine.servers.entry(server);
    if (!this.engine.catalog.isVisible(server, this.#scope)) {
      throw new PlugboardError("server-unknown", `There is no server "${server}".`, { server });
    }
  }
}

/** The capabilities of a view with its own `interact` or capabilities. */
function capabilitiesOf(use: Use, { interact, capabilities }: ViewOptions): Capabilities {
  return { ...(interact ? interactCapabilities(interact) : use.capabilities), ...capabilities };
}
