import { formats } from "../../config.ts";
import type { ServerEntry, Workspace } from "../../config.ts";
import type { PromptCommand } from "../../host.ts";
import type { Hub, LoadedConfig, ToolEntry } from "../../index.ts";
import { toolWord } from "../arguments/call-line.ts";
import { namedArguments } from "../chat/completion.ts";
import { serverIn } from "../find.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";
import { withHub } from "../with-hub.ts";
import type { TypedLine } from "./line.ts";
import { argumentCandidates } from "./tool-arguments.ts";

type Kind =
  | "servers"
  | "tools"
  | "prompts"
  | "profiles"
  | "secrets"
  | "bundles"
  | "readable"
  | "writable"
  | "mergeable";

interface Expected {
  kinds: readonly Kind[];
  /** How many of them can follow. */
  most: number;
}

const one = (...kinds: Kind[]): Expected => ({ kinds, most: 1 });
const several = (...kinds: Kind[]): Expected => ({ kinds, most: Infinity });

/** What can follow a verb or subcommand. */
const expected: ReadonlyMap<string, Expected> = new Map([
  ...["remove", "enable", "disable", "get", "login", "logout", "logs", "resources", "prompts"].map(
    (verb) => [verb, one("servers")] as const,
  ),
  ...["read", "request", "secret move", "approvals revoke"].map((verb) => [verb, one("servers")] as const),
  ...["stop", "trust", "status", "doctor", "verify"].map((verb) => [verb, several("servers")] as const),
  ["lock", several("servers", "tools")],
  ["check", several("tools")],
  ["tools", one("servers", "tools")],
  ["explain", one("servers", "tools")],
  ["call", one("tools")],
  ["prompt", one("prompts")],
  ["secret set", one("secrets")],
  ["secret remove", one("secrets")],
  ["import", several("readable")],
  ["export", one("writable")],
  ["sync", several("mergeable")],
  ...["client add", "client remove", "client check"].map((verb) => [verb, several("mergeable")] as const),
]);

/** The values of options. */
const optionKinds: ReadonlyMap<string, Kind> = new Map([
  ["--profile", "profiles"],
  ["--server", "servers"],
  ["--bundle", "bundles"],
  ["--allow", "tools"],
]);

/** Those that `plugboard request` passes on to every server. */
const methods = [
  "ping",
  "resources/list",
  "resources/read",
  "resources/templates/list",
  "prompts/list",
  "prompts/get",
  "completion/complete",
];

/** The names, parameters and values that can follow. Uses remembered lists; starts no server. */
export async function nameCandidates(
  verb: string,
  line: TypedLine,
  common: CommonOptions,
  terminal: Terminal,
): Promise<string[]> {
  const { words, option, options } = line;
  // A server that is only on the command line is not known before it is started.
  const isOneOff = verb !== "chat" && (options.has("--command") || options.has("--url"));
  const path = options.get("--config");
  return withWorkspace(terminal, path === undefined ? common : { config: path }, async (workspace) => {
    const config = await workspace.load();
    const known = new Known(line, config, workspace, terminal);
    if (option) {
      const kind = optionKinds.get(option.long ?? "");
      return kind === undefined || isOneOff ? [] : known.names(kind);
    }
    if (verb === "request" && words.length === (isOneOff ? 0 : 1)) return methods;
    if (isOneOff) return [];
    const follows = expected.get(verb);
    if (follows && words.length < follows.most) {
      const lists = await Promise.all(follows.kinds.map((kind) => known.names(kind)));
      return known.untrustedLast(lists.flat()).filter((name) => !words.includes(name));
    }
    if (verb === "call") return known.toolArguments();
    if (verb === "prompt") return known.promptArguments();
    return verb === "read" && words.length === 1 ? known.uris() : [];
  });
}

class Known {
  readonly #line: TypedLine;
  readonly #config: LoadedConfig;
  readonly #workspace: Workspace;
  readonly #terminal: Terminal;

  constructor(line: TypedLine, config: LoadedConfig, workspace: Workspace, terminal: Terminal) {
    this.#line = line;
    this.#config = config;
    this.#workspace = workspace;
    this.#terminal = terminal;
  }

  async names(kind: Kind): Promise<string[]> {
    switch (kind) {
      case "servers":
        return this.#servers().map(({ name }) => name);
      case "tools":
        return (await this.#tools()).flatMap((tool) => [toolWord(tool), tool.id]);
      case "prompts":
        return (await this.#prompts()).flatMap((prompt) => [toolWord(prompt), prompt.id]);
      case "profiles":
        return this.#profiles();
      case "secrets":
        return (await this.#workspace.stored.list()).secrets.map(({ name }) => name);
      case "bundles":
        return [...this.#config.bundles.keys()];
      case "readable":
        return formats.map(({ id }) => id);
      case "writable":
        return formats.filter(({ write }) => write).map(({ id }) => id);
      case "mergeable":
        return formats.filter(({ merging }) => merging).map(({ id }) => id);
    }
  }

  /** Of names of several kinds, those of servers that are not trusted come last, behind the tools of the others. */
  untrustedLast(names: readonly string[]): string[] {
    const { servers } = this.#config;
    return byRank(names, (name) => (rankOf(servers.get(name)) === untrusted ? 1 : 0));
  }

  async toolArguments(): Promise<string[]> {
    const [query, ...words] = this.#line.words;
    const tool = named(await this.#tools(), query);
    return tool ? argumentCandidates(words, this.#line.last, tool.inputSchema) : [];
  }

  async promptArguments(): Promise<string[]> {
    const [query, ...words] = this.#line.words;
    const prompt = named(await this.#prompts(), query);
    if (!prompt) return [];
    const given = namedArguments(prompt, words);
    return prompt.arguments.flatMap(({ name }) => (Object.hasOwn(given, name) ? [] : [`${name}=`]));
  }

  /** Those of the resources, and what comes before the first variable of a template. */
  async uris(): Promise<string[]> {
    const [server = ""] = this.#line.words;
    return this.#look(async (hub) => {
      const view = hub.view({ servers: [server] });
      const resources = await view.resources({ wait: false });
      const templates = await view.resourceTemplates({ wait: false });
      const starts = templates.map(({ raw }) => /^[^{]*[=/:]/.exec(String(raw["uriTemplate"]))?.[0]);
      const uris = resources.map(({ raw }) => raw["uri"]);
      return [...uris, ...starts].filter((uri) => typeof uri === "string");
    });
  }

  /** The accounts of the server that the line names, or of all. */
  async #profiles(): Promise<string[]> {
    const { words } = this.#line;
    const [first = ""] = words;
    const config = this.#config;
    const server = config.servers.has(first) ? first : serverIn(first, { config });
    const isMeant = (name: string | undefined) => server === undefined || name === server;
    const configured = this.#servers().filter(({ name }) => isMeant(name));
    const chosen = Object.entries(config.settings.profiles ?? {}).filter(([name]) => isMeant(name));
    const { logins } = await this.#workspace.stored.list();
    return [
      ...logins.flatMap(({ profile, server: of, usedBy }) =>
        isMeant(of) || usedBy.some((use) => isMeant(use.server)) ? [profile] : [],
      ),
      ...chosen.map(([, profile]) => profile),
      ...configured.flatMap((entry) => entry.config?.oauth?.profile ?? []),
    ];
  }

  #servers(): ServerEntry[] {
    return byRank([...this.#config.servers.values()], rankOf);
  }

  async #tools(): Promise<ToolEntry[]> {
    return this.#ofOwnFirst(await this.#look((hub) => hub.tools({ wait: false })));
  }

  async #prompts(): Promise<PromptCommand[]> {
    return this.#ofOwnFirst(await this.#look((hub) => hub.commands({ wait: false })));
  }

  #ofOwnFirst<T extends { server: string }>(entries: readonly T[]): T[] {
    return byRank(entries, ({ server }) => rankOf(this.#config.servers.get(server)));
  }

  #look<T>(work: (hub: Hub) => Promise<T>): Promise<T> {
    const profile = this.#line.options.get("--profile");
    return withHub(this.#terminal, { config: this.#config, isLooking: true, profile }, this.#workspace, work);
  }
}

const untrusted = 2;

/** A project can have thousands of servers, and only so many names are offered: the user's own come first. */
function rankOf(entry: ServerEntry | undefined): number {
  if (!entry?.needsTrust) return 0;
  return entry.status.kind === "ready" ? 1 : untrusted;
}

function byRank<T>(list: readonly T[], rank: (one: T) => number): T[] {
  return list.toSorted((a, b) => rank(a) - rank(b));
}

function named<T extends Pick<ToolEntry, "id" | "server" | "name">>(
  entries: readonly T[],
  query: string | undefined,
): T | undefined {
  const names = (entry: T) => [entry.id, toolWord(entry), entry.name];
  return entries.find((entry) => query !== undefined && names(entry).includes(query));
}
