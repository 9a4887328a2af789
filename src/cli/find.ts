import { PlugboardError, isPlugboardError } from "../index.ts";
import type { ServerEntry } from "../config.ts";
import type { PromptCommand } from "../host.ts";
import type { Hub, LoadedConfig, ToolEntry } from "../index.ts";
import { joinArgv, shellWord } from "../lib/argv.ts";
import { nearest } from "../lib/suggest.ts";
import { unknownServer } from "../lib/unknown-server.ts";
import { oneOffServer } from "./one-off.ts";
import type { OneOffOptions } from "./one-off.ts";
import { someOf } from "./views/some-of.ts";

/**
 * Finds a tool. If it is missing because its server cannot be used, the error says that instead. A query that names a
 * server which does not exist starts no other one. `next` are the words that follow, which may begin with the tool's name.
 */
export async function findTool(
  hub: Hub,
  query: string,
  next: readonly string[] = [],
  signal?: AbortSignal,
): Promise<ToolEntry> {
  const server = serverIn(query, hub);
  const stranger = server === undefined ? strangerIn(query) : undefined;
  try {
    return await hub.findTool(query, { wait: stranger === undefined, signal });
  } catch (error) {
    if (!isPlugboardError(error, "tool-unknown")) throw error;
    if (stranger && !error.data) throw strangerError("tool", query, stranger, hub);
    // If it is the only server, the tool can only be missing there.
    const asked = server ?? onlyServer(hub);
    if (asked !== undefined && !error.data) await hub.connect(asked, { signal });
    throw withHint(error, query, hub, next);
  }
}

/**
 * Finds a tool by its bare name without waiting for servers that failed a short while ago; the error names them. One that
 * the query names is asked.
 */
export async function findToolWithout(
  failed: ReadonlySet<string>,
  hub: Hub,
  query: string,
): Promise<ToolEntry> {
  const others = [...hub.config.servers.keys()].filter((name) => !failed.has(name));
  const isBare = serverIn(query, hub) === undefined && strangerIn(query) === undefined;
  if (!isBare || failed.size === 0 || others.length === 0) return findTool(hub, query);
  try {
    return await hub.view({ servers: others }).findTool(query);
  } catch (error) {
    if (!isPlugboardError(error, "tool-unknown") || error.data) throw error;
    const hint = `Not asked, because they failed a short while ago: ${someOf([...failed])}. Run \`plugboard status\` to try them again.`;
    throw new PlugboardError("tool-unknown", error.message, { tool: query, hint, cause: error });
  }
}

/** Finds a prompt, like a tool. */
export async function findPrompt(hub: Hub, query: string): Promise<PromptCommand> {
  const server = serverIn(query, hub);
  if (server !== undefined) {
    const view = hub.view({ servers: [server] });
    return view.findPrompt(query).catch(async (error: unknown) => {
      if (hub.status().some(({ name, state }) => name === server && state === "connected")) throw error;
      await hub.connect(server);
      return view.findPrompt(query);
    });
  }
  const stranger = strangerIn(query);
  return hub.findPrompt(query, { wait: stranger === undefined }).catch(async (error: unknown) => {
    const only = stranger ? undefined : onlyServer(hub);
    if (only !== undefined && isPlugboardError(error, "tool-unknown")) await hub.connect(only);
    if (!stranger || !isPlugboardError(error, "tool-unknown") || error.data) throw error;
    throw strangerError("prompt", query, stranger, hub);
  });
}

function onlyServer({ config: { servers } }: Hub): string | undefined {
  const [only] = servers.size === 1 ? servers.keys() : [];
  return only;
}

interface Stranger {
  start: string;
  server: string;
  rest: string;
}

/** What stands where a server's name would stand: `nope` in `nope.tool`. Also a bare name may look like that. */
function strangerIn(query: string): Stranger | undefined {
  const [, start = "", server, rest] = /^(\/?(?:mcp__)?)(.+?)((?:__|[./]).+)$/s.exec(query) ?? [];
  return server === undefined || rest === undefined ? undefined : { start, server, rest };
}

function strangerError(
  what: "tool" | "prompt",
  query: string,
  { start, server, rest }: Stranger,
  { config: { servers } }: Hub,
): PlugboardError {
  const near = nearest(server, servers.keys());
  const [first] = servers.keys();
  const hint =
    near !== undefined
      ? `Did you mean ${start}${near}${rest}?`
      : `Run \`plugboard list\` to see the servers.${first === undefined ? "" : ` If ${query} is the whole name, put its server before it: ${first}.${query}`}`;
  return new PlugboardError(
    "tool-unknown",
    `There is no ${what} "${query}": no server is called "${server}".`,
    { ...(what === "tool" && { tool: query }), hint },
  );
}

/** The server named in `server.tool`, `server/tool` or `mcp__server__tool`. */
export function serverIn(query: string, { config }: Pick<Hub, "config">): string | undefined {
  return [...config.servers.keys()].find((name) =>
    [`${name}.`, `${name}/`, `${name}__`, `mcp__${name}__`].some((start) =>
      query.replace(/^\//, "").startsWith(start),
    ),
  );
}

function withHint(error: PlugboardError, query: string, hub: Hub, next: readonly string[]): PlugboardError {
  if (hub.config.servers.has(query)) {
    const [tool, ...rest] = next;
    const line =
      tool !== undefined && /^\w[\w./-]*$/.test(tool)
        ? joinArgv(["plugboard", "call", `${query}.${tool}`, ...rest])
        : `plugboard tools ${shellWord(query)}`;
    const hint = `${query} is a server. Try: ${line}`;
    return new PlugboardError("tool-unknown", error.message, { tool: query, hint, cause: error });
  }
  if (error.data) return error;
  const [, start = "", rest = ""] = /^(.+?)(?:__|[:\s]+)(.+)$/s.exec(query) ?? [];
  if (hub.config.servers.has(start))
    return new PlugboardError("tool-unknown", error.message, {
      tool: query,
      hint: `Did you mean ${start}.${rest}?`,
      cause: error,
    });
  const near = nearest(query, hub.config.servers.keys());
  const failed = hub.status().filter((report) => report.error !== undefined);
  const hint =
    near !== undefined
      ? `Did you mean the server ${near}?`
      : failed.length > 0
        ? `${someOf(failed.map(({ name }) => name))} did not respond. Run \`plugboard status\` to see why.`
        : undefined;
  if (hint === undefined) return error;
  return new PlugboardError("tool-unknown", error.message, { tool: query, hint, cause: error });
}

/** Returns the server with that name, or throws an error that suggests the closest one. */
export function knownServer({ servers }: LoadedConfig, name: string): ServerEntry {
  const entry = servers.get(name);
  if (entry) return entry;
  throw unknownServer(name, servers.keys());
}

/**
 * The server and what follows it: `read files file:///a`. With a server named by --command or --url its name may be left
 * out.
 */
export function takeServer(
  config: LoadedConfig,
  options: OneOffOptions,
  given: readonly (string | undefined)[],
): { entry: ServerEntry; rest: readonly string[] } {
  const words = given.filter((word) => word !== undefined);
  const [first = "", ...rest] = words;
  const [only] = oneOffServer(options) ? config.servers.values() : [];
  if (only && only.name !== first) return { entry: only, rest: words };
  return { entry: knownServer(config, first), rest };
}
