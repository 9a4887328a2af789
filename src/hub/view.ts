import type { CallCheck } from "../calls/approve.ts";
import type { CallOptions, CallResult } from "../calls/call-tool.ts";
import { inputsOf } from "../calls/call-inputs.ts";
import { configuredInput, withInputs } from "../calls/input-required.ts";
import type { Inputs } from "../calls/input-required.ts";
import { findMentions } from "../calls/mentions.ts";
import { complete, getPrompt, readResource } from "../calls/resources.ts";
import type { CompletionTarget, PromptMessages, ResourceContents } from "../calls/resources.ts";
import type { KeptResult, Selection } from "../calls/results/store.ts";
import type { ResourceListener, SubscribeOptions } from "../calls/subscriptions.ts";
import type { ServerRequestOptions } from "../calls/send.ts";
import type { ForwardOptions } from "../calls/forward-call.ts";
import { ParsedParams } from "../calls/parsed-params.ts";
import type { TaskEntry } from "../calls/tasks/records.ts";
import type { TaskHandle } from "../calls/tasks/task-handle.ts";
import type { Audience } from "../catalog/audience.ts";
import type { ListedEntry, ListOptions, ToolListOptions } from "../catalog/settings.ts";
import { narrow } from "../catalog/filter.ts";
import type { Filter, Scope } from "../catalog/filter.ts";
import type { DigestKind } from "../catalog/digest.ts";
import type { PromptCommand } from "../catalog/prompts.ts";
import type { ListKind } from "../catalog/known-list.ts";
import { cutWords } from "../catalog/pages.ts";
import type { PageLimit } from "../catalog/pages.ts";
import type { FoundTool, SearchOptions } from "../catalog/search.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import { Approvals } from "./approvals.ts";
import type { ApprovalEntry } from "./approvals.ts";
import type { Engine } from "./engine.ts";
import { assertNotification, assertRequest, passesAsItIs } from "./raw-messages.ts";
import type { ServerNotification } from "./server-notification.ts";
import { audienceOf, concerns } from "./view-events.ts";
import { PlugboardError } from "../errors.ts";
import { methodStanding } from "../lib/protocol-method.ts";
import { explainTool } from "./explain-tool.ts";
import { summaryOf } from "./summary.ts";
import type { ToolExplanation } from "./explain-tool.ts";
import type { RequestOptions } from "./options.ts";
import type { MetaNaming, MetaTools } from "./offer/meta-tools.ts";
import type { OfferOptions, ToolOffer } from "./offer/tool-offers.ts";
import { interactCapabilities } from "../interact/interact.ts";
import type { EventOf, EventType } from "../events.ts";
import type { Use } from "../servers/connection-key.ts";
import { ownHeaders } from "../servers/own-headers.ts";
import type { Route } from "../servers/route.ts";
import type { Capabilities } from "../servers/rpc/envelope.ts";
import type { JsonRpcAnswer, RawAnswer } from "../servers/rpc/messages.ts";

interface UseOptions {
  signal?: AbortSignal | undefined;
  /** The account to use instead of the configured one. */
  profile?: string | undefined;
}

/** What a view shows, and who uses it. */
export interface ViewOptions extends Omit<Filter, "alsoTools">, Omit<Use, "account" | "headers"> {
  /** The account to use instead of the configured one. Does not affect servers without logins. */
  profile?: string | undefined;
  /**
   * Headers by server, such as `{ issues: { Authorization: "Bearer …" } }`. Remote servers get them with everything from the
   * handshake on, over a connection that no view with other headers shares, in place of configured ones.
   */
  headers?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
}

/** What is known about one server's list. */
export interface ListState {
  server: string;
  /** When the list was read, in milliseconds since the epoch; absent if it is unknown. */
  at?: number;
  /** How many entries it has, before any filter; absent if it is unknown. */
  count?: number;
  /** True if the list comes from an earlier run. */
  isSnapshot: boolean;
  /** Set if the server has more entries than were read: which limit that was, and a sentence about it. */
  cut?: { by: PageLimit; message: string };
}

/** A hub restricted to some servers or tools, for one caller and account. All use of servers goes through a view. */
export class View {
  readonly #engine: Engine;
  readonly #scope: Scope;
  /** This view with other accounts or audiences, for single calls. */
  readonly #others = new Map<string, View>();

  constructor(engine: Engine, scope: Scope) {
    this.#engine = engine;
    this.#scope = scope;
  }

  /** Throws once the hub is closed: nothing of it may look as if it were empty. */
  protected get engine(): Engine {
    this.#engine.assertOpen();
    return this.#engine;
  }

  /** Returns a narrower view; it never shows more than the view it was created from. */
  view(options: ViewOptions): View {
    const { caller, profile, project, interact, capabilities, headers, ...filter } = options;
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
        headers: use.headers ?? (headers && ownHeaders(headers, this.engine.headersKey)),
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
      const isMeant = event.type === type && concerns(event, audienceOf(event), this.#scope.use, isVisible);
      // What is about no server is for those who see all of them.
      if (isMeant && ("server" in event || this.#scope === root)) listener(event as EventOf<T>);
    });
  }

  /**
   * Calls `listener` for each notification of this view's servers that concerns it, also those that a request of its own
   * has heard (`isOfRequest`). Returns a function that removes it.
   */
  onNotification(listener: (notification: ServerNotification) => void): () => void {
    const { notifications, catalog } = this.engine;
    const isVisible = (server: string) => catalog.isVisible(server, this.#scope);
    return notifications.listen((told) => {
      if (concerns(told, told.audience, this.#scope.use, isVisible)) listener(told);
    });
  }

  /**
   * Sends a notification to a server, over the connection that this view's requests use; starts the server if it is not
   * connected. The protocol's own methods are refused, whatever their spelling: what they say, Plugboard says by itself.
   */
  async notify(
    server: string,
    method: string,
    params: Record<string, unknown> = {},
    { signal, profile }: UseOptions = {},
  ): Promise<void> {
    this.#assertVisible(server);
    const { requests } = this.engine;
    const route = await this.#as(profile).#route(server, signal);
    if (methodStanding(method, "notification") !== "foreign")
      await assertNotification(method, server, () => requests.capabilities(route, signal));
    await requests.notify(route, method, params, signal);
  }

  /** The tools that may be called, in a stable order. Waits for servers whose tools are not known yet. */
  async tools(options: ToolListOptions = {}): Promise<ToolEntry[]> {
    return (await this.allTools(options)).filter(({ status }) => status === "available");
  }

  /** Like `tools`, but includes hidden tools and those set aside, with the reasons. */
  async allTools(options: ToolListOptions = {}): Promise<ToolEntry[]> {
    return this.#whileOpen(this.engine.catalog.tools(this.#as(undefined, options.for).#scope, options));
  }

  /**
   * Finds callable tools by words about what they do, the best first. Waits for servers whose tools are not known yet.
   * Throws `usage-invalid` for a query without words.
   */
  async search(query: string, options: SearchOptions = {}): Promise<FoundTool[]> {
    if (options.server !== undefined) this.#assertVisible(options.server);
    return this.#whileOpen(this.engine.catalog.search(query, this.#scope, options));
  }

  /** Returns the server's result, within the output limits. `isError: true` is a result, not an exception. */
  async callTool(
    id: string,
    args: Record<string, unknown> = {},
    options: CallOptions = {},
  ): Promise<CallResult> {
    return this.engine.calls.callTool(id, args, options, this.#as(options.profile, options.for).#scope);
  }

  /**
   * Says what a call would meet: whether it would be made at once, somebody would be asked, or a rule denies it. Sends
   * nothing and asks nobody. Throws if there is no such tool, or the arguments do not fit.
   */
  async checkCall(
    id: string,
    args: Record<string, unknown> = {},
    options: Pick<CallOptions, "approval" | "signal"> = {},
  ): Promise<CallCheck> {
    return this.engine.calls.checkCall(id, args, options, this.#scope);
  }

  /** Those of these tools about whose calls somebody may be asked, depending on their arguments and what is remembered. */
  async mayAsk(
    tools: readonly ToolEntry[],
    options: Pick<CallOptions, "approval"> = {},
  ): Promise<ToolEntry[]> {
    return this.engine.calls.mayAsk(tools, options, this.#scope);
  }

  /** True if somebody can be asked about calls right away: the view has an `interact.approve`. */
  get canApprove(): boolean {
    this.#engine.assertOpen();
    return this.#scope.use.interact?.approve !== undefined;
  }

  /** True for a server that the configuration calls `untrusted`: what it says is data, never an instruction. */
  isUntrusted(server: string): boolean {
    this.#assertVisible(server);
    return this.engine.servers.entry(server).config?.untrusted === true;
  }

  /** The URL of a remote server as it is written, before values are filled in; undefined for one that is not remote. */
  writtenUrl(server: string): string | undefined {
    this.#assertVisible(server);
    return this.engine.servers.entry(server).config?.url;
  }

  /**
   * Forwards a call, for programs between a client and the servers. Lookup, visibility, argument checks, approval,
   * deadline and events are the same as for `callTool`, but the server's answer is returned unchanged, including
   * `input_required` and errors.
   */
  forwardCall(
    id: string,
    params: Record<string, unknown> | ParsedParams,
    options: ForwardOptions & { raw: true },
  ): Promise<JsonRpcAnswer | RawAnswer>;
  forwardCall(
    id: string,
    params: Record<string, unknown> | ParsedParams,
    options?: ForwardOptions,
  ): Promise<JsonRpcAnswer>;
  forwardCall(
    id: string,
    params: Record<string, unknown> | ParsedParams,
    options: ForwardOptions = {},
  ): Promise<JsonRpcAnswer | RawAnswer> {
    try {
      const { profile, for: audience } = options;
      return this.engine.calls.forwardCall(id, params, options, this.#as(profile, audience).#scope);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Finds a tool by its id, `server.tool`, or a bare name that only one server has. Also finds hidden tools. */
  async findTool(id: string, options: ToolListOptions = {}): Promise<ToolEntry> {
    const scope = this.#as(undefined, options.for).#scope;
    const find = () => this.engine.catalog.find(id, scope, options);
    const { wait = true, signal } = options;
    return wait ? this.engine.onDemand.run({ use: this.#scope.use, signal }, find) : find();
  }

  /**
   * What a model should be shown: the tools, or, where `toolSearch` or the bundle's mode defers them, three tools to
   * search, describe and call them (`meta`) beside those that are always loaded.
   */
  async offer(options: OfferOptions = {}): Promise<ToolOffer> {
    return (await this.engine.offers()).offer(this, this.#scope, options);
  }

  /** Answers calls of the three tools of a deferred offer. `naming` if models know the tools by other names than ids. */
  async metaTools(naming?: MetaNaming): Promise<MetaTools> {
    return (await this.engine.offers()).metaTools(this, this.#scope, naming);
  }

  /** Which servers' lists are known, and since when. Starts no server. */
  async listStates(kind: ListKind = "tools"): Promise<ListState[]> {
    const { catalog } = this.engine;
    return Promise.all(
      catalog.serverNames(this.#scope).map(async (server) => {
        const list = await catalog.list(server, kind, this.#scope, { wait: false });
        return {
          server,
          isSnapshot: list?.isSnapshot ?? false,
          ...(list && { at: list.at, count: list.entries.length }),
          ...(list?.cutBy && { cut: { by: list.cutBy, message: cutWords(kind, list.cutBy) } }),
        };
      }),
    );
  }

  /** The resources of all servers. Waits for servers whose list is not known yet. */
  async resources(options: ListOptions = {}): Promise<ListedEntry[]> {
    return this.#whileOpen(this.engine.catalog.entries("resources", this.#scope, options));
  }

  /** The resource templates of all servers. */
  async resourceTemplates(options: ListOptions = {}): Promise<ListedEntry[]> {
    return this.#whileOpen(this.engine.catalog.entries("resourceTemplates", this.#scope, options));
  }

  /** The prompts of all servers, as these listed them. */
  async prompts(options: ListOptions = {}): Promise<ListedEntry[]> {
    return this.#whileOpen(this.engine.catalog.entries("prompts", this.#scope, options));
  }

  /** The prompts of all servers as slash commands. */
  async commands(options: ListOptions = {}): Promise<PromptCommand[]> {
    return this.#whileOpen(this.engine.catalog.commands(this.#scope, options));
  }

  /** Reads a resource. Its contents are as the server sent them. */
  async readResource(
    server: string,
    uri: string,
    { signal, profile }: UseOptions = {},
  ): Promise<ResourceContents> {
    const inputs = await this.#as(profile).#inputs(server, "resources/read", { signal });
    return readResource(server, uri, inputs as Inputs);
  }

  /**
   * Calls `listener` for each change the server reports, and whenever one may have been missed, for example after a
   * reconnect. Rejects if the server refuses; if it does so later, `onRefused` is called and it is asked again from
   * time to time. With `server-unknown` it is over: this view no longer shows the server. Returns a function to unsubscribe.
   */
  async subscribeResource(
    server: string,
    uri: string,
    listener: ResourceListener,
    { profile, ...options }: UseOptions & SubscribeOptions = {},
  ): Promise<() => Promise<void>> {
    this.#assertVisible(server);
    const { use } = this.#as(profile).#scope;
    const mayHear = () => this.#isShown(server);
    return this.engine.subscriptions.subscribe(server, use, uri, listener, { ...options, mayHear });
  }

  /** Gets a prompt by its id (`mcp__server__prompt`) or by `server.prompt`. */
  async getPrompt(
    id: string,
    args: Record<string, string> = {},
    { signal, profile }: UseOptions = {},
  ): Promise<PromptMessages> {
    const view = this.#as(profile);
    const { server, name } = await view.findPrompt(id, { signal });
    return getPrompt(server, name, args, (await view.#inputs(server, "prompts/get", { signal })) as Inputs);
  }

  /** Finds a prompt by its id, `server.prompt`, `server/prompt`, or a bare name that only one server has. */
  async findPrompt(id: string, options: ListOptions = {}): Promise<PromptCommand> {
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
    const route = await this.#as(profile).#route(server, signal);
    return complete(target, argument, known, this.#ask(route, signal));
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

  /** Reads a page of a result that was too large, or of a part or some fields of it, or finds text there. */
  async result(
    handle: string,
    options: Selection & { page?: number; find?: string } = {},
  ): Promise<KeptResult> {
    const { caller } = this.#scope.use;
    return (await this.engine.calls.results()).read(handle, { ...options, caller });
  }

  /** The text of a result that was too large, or with `select` a JSON value from it. */
  async resultValue(handle: string, selection: Selection = {}): Promise<unknown> {
    const { caller } = this.#scope.use;
    return (await this.engine.calls.results()).value(handle, { ...selection, caller });
  }

  /**
   * Tasks that calls of this caller became and whose end nobody has seen, the oldest first. With a durable `store` those
   * of earlier processes too.
   */
  async tasks(): Promise<TaskEntry[]> {
    return this.engine.calls.tasks(this.#scope);
  }

  /** A task by its id, to go on with it. Another caller's id gives the same error as an unknown one. */
  async task(id: string): Promise<TaskHandle> {
    return this.engine.calls.task(id, this.#scope, (account) => this.#as(account).#scope);
  }

  /** Tells the servers in use that `interact.roots` gives another answer from now on. A server that fails is skipped. */
  async rootsChanged(): Promise<void> {
    const { servers, catalog } = this.engine;
    const { caller } = this.#scope.use;
    await servers.tellRootsChanged(
      (key) =>
        catalog.isVisible(key.server, this.#scope) &&
        (caller === undefined || key.caller === undefined || key.caller === caller),
    );
  }

  /**
   * Sends the sandbox state to servers that declare `codex/sandbox-state`, now and whenever they connect. Of a view with a
   * caller, only that caller's connections to the servers it shows: such a server gets a connection of its own for each
   * caller with a state. `undefined` forgets the caller's state; of a hub it reaches everybody without one.
   */
  async setSandboxState(state: Record<string, unknown> | undefined): Promise<void> {
    const { root, catalog, servers } = this.engine;
    const { caller } = this.#scope.use;
    if (caller !== undefined) {
      const isMeant = (server: string) => catalog.isVisible(server, this.#scope);
      return servers.announcements.setCallerState(caller, state && { state, isMeant });
    }
    if (this.#scope !== root)
      throw new PlugboardError("usage-invalid", "A view without a caller has no sandbox state of its own.", {
        hint: "Create the view with `caller`, or use `setSandboxState` of the hub.",
      });
    await servers.announcements.setSandboxState(state);
  }

  /** Explains why a tool is available, hidden or needs approval, and which file and line decides it. */
  async explainTool(id: string, options: ToolListOptions = {}): Promise<ToolExplanation> {
    const tool = await this.findTool(id, options);
    const { knownFlags } = await import("./known-flags.ts");
    const flags = await knownFlags(
      this.engine,
      ({ server, kind, name }) => server === tool.server && kind === "tool" && name === tool.name,
    );
    const { servers } = this.engine;
    const remembered = await this.#remembered(tool);
    const { deferral } = await this.offer({ wait: false });
    const facts = { flags, remembered, deferral };
    return explainTool(tool, servers.config, facts, this.#scope.filter.bundle);
  }

  /** The answers about a tool that this caller and account have given; none if they cannot be read. */
  async #remembered(tool: ToolEntry): Promise<ApprovalEntry[]> {
    const { approvals, queue, servers } = this.engine;
    const { use } = this.#scope;
    const { account, project } = servers.key(tool.server, use);
    const all = await approvals.list().catch(() => []);
    const own = all.filter(
      ({ record }) =>
        record.server === tool.server &&
        record.folder === servers.entry(tool.server).baseDir &&
        record.tool === tool.name &&
        record.caller === use.caller &&
        record.account === account &&
        record.project === project,
    );
    const shown = new Approvals(approvals, queue, () => servers.config);
    return own.map((one) => shown.entry(one, tool));
  }

  /**
   * A short text for a system prompt: what each server of this view is for, how many tools it has, and which ones need a
   * login. What servers say of themselves is marked as data. Starts no server; empty if there is none.
   */
  async summary(): Promise<string> {
    return summaryOf(this.engine, this.#scope);
  }

  /** A short string that changes exactly when the known catalog of this view changes. Starts no server. */
  async digest(kind?: DigestKind): Promise<string> {
    return this.engine.catalog.digest(this.#scope, kind);
  }

  /**
   * Sends a raw request and returns the server's answer or error unchanged. Of the protocol's methods those pass that
   * read; calls, tasks and subscriptions have functions that follow the rules. Others pass, unless their name is reserved
   * for the protocol and the server does not declare them.
   */
  async request(
    method: string,
    params: Record<string, unknown> | ParsedParams,
    options: RequestOptions & { raw: true },
  ): Promise<JsonRpcAnswer | RawAnswer>;
  async request(
    method: string,
    params: Record<string, unknown> | ParsedParams,
    options: RequestOptions,
  ): Promise<JsonRpcAnswer>;
  async request(
    method: string,
    params: Record<string, unknown> | ParsedParams,
    { server, profile, fulfil, ...options }: RequestOptions,
  ): Promise<JsonRpcAnswer | RawAnswer> {
    const { tools, bundle } = this.#scope.filter;
    if (method === "tools/list" && (tools ?? bundle) !== undefined) {
      const hint = "Use `tools()`, which shows what this view may see.";
      throw new PlugboardError("usage-invalid", "`request` lists no tools in a narrowed view.", {
        server,
        hint,
      });
    }
    this.#assertVisible(server);
    const view = this.#as(profile);
    const route = await view.#route(server, options.signal);
    if (!passesAsItIs(method))
      await assertRequest(method, server, () => this.engine.requests.capabilities(route, options.signal));
    const parsed = params instanceof ParsedParams ? params : undefined;
    const value = parsed ? parsed.value : (params as Record<string, unknown>);
    const asked = { ...options, write: parsed?.writer() };
    if (!fulfil) return this.engine.requests.continued(route, method, value, asked);
    return withInputs(value, { ...(await view.#inputs(server, method, asked)), isPassed: true });
  }

  /**
   * What the configuration answers to a question of a server, for programs that hand out `input_required` by themselves;
   * undefined if somebody may be asked. Throws `question-declined` for a page that is not safe to show.
   */
  configuredAnswer(
    server: string,
    method: string,
    params: Record<string, unknown>,
  ): Record<string, unknown> | undefined {
    this.#assertVisible(server);
    return configuredInput(server, method, params, this.engine.elicitationMode(server));
  }

  /** This view with another account, or for another audience. Created once for each, because views cache a lot. */
  #as(profile: string | undefined, audience?: Audience): View {
    const { use, filter } = this.#scope;
    const isSameAccount = profile === undefined || profile === use.account;
    const isSameAudience = audience === undefined || audience === (filter.for ?? "model");
    if (isSameAccount && isSameAudience) return this;
    const key = JSON.stringify([isSameAccount ? null : profile, isSameAudience ? null : audience]);
    const options = { ...(!isSameAccount && { profile }), ...(!isSameAudience && { for: audience }) };
    const view = this.#others.get(key) ?? this.view(options);
    this.#others.set(key, view);
    return view;
  }

  /** Where requests of this view go at a server that it shows. */
  async #route(server: string, signal: AbortSignal | undefined): Promise<Route> {
    this.#assertVisible(server);
    return this.engine.servers.routed(server, this.#scope.use, () => signal);
  }

  #ask(route: Route, signal: AbortSignal | undefined) {
    const { requests } = this.engine;
    return async (method: string, params: Record<string, unknown>) =>
      (await requests.request(route, method, params, { signal })) as JsonRpcAnswer;
  }

  /** Sends a request and provides the input that its server asks for. */
  async #inputs(
    server: string,
    method: string,
    options: ServerRequestOptions,
  ): Promise<Inputs<JsonRpcAnswer | RawAnswer>> {
    const { requests } = this.engine;
    const route = await this.#route(server, options.signal);
    const inputs = inputsOf(
      route,
      method,
      { ...options, trace: {} },
      {
        request: (...request) => requests.request(...request),
        answer: (to, question, by) => requests.answer(question, to, by),
        completed: (_, elicitationId, signal) => requests.completed(server, elicitationId, signal),
      },
    );
    return { ...inputs, redact: (text) => route.current?.session?.redact(text) };
  }

  /** A list that was read while the hub was being closed has gaps that nobody would notice. */
  async #whileOpen<T>(work: Promise<T>): Promise<T> {
    const listed = await work;
    this.#engine.assertOpen();
    return listed;
  }

  /** False also where that cannot be told, because the bundle is gone. */
  #isShown(server: string): boolean {
    try {
      return this.#engine.catalog.isVisible(server, this.#scope);
    } catch {
      return false;
    }
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
