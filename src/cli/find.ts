import { PlugboardError, isPlugboardError } from "../index.ts";
import type { Hub, LoadedConfig, ServerEntry, ToolEntry } from "../index.ts";
import { nearest } from "../lib/suggest.ts";
import { oneOffServer } from "./one-off.ts";
import type { OneOffOptions } from "./one-off.ts";

/** Finds a tool. If it is missing because its server cannot be used, the error says that instead. */
export async function findTool(hub: Hub, query: string): Promise<ToolEntry> {
  try {
    return await hub.findTool(query);
  } catch (error) {
    if (!isPlugboardError(error, "tool-unknown")) throw error;
    const server = serverIn(query, hub);
    if (server !== undefined) await hub.connect(server);
    throw withHint(error, query, hub);
  }
}

/** The server named in `server.tool`, `server/tool` or `mcp__server__tool`. */
export function serverIn(query: string, { config }: Hub): string | undefined {
  return [...config.servers.keys()].find((name) =>
    [`${name}.`, `${name}/`, `${name}__`, `mcp__${name}__`].some((start) =>
      query.replace(/^\//, "").startsWith(start),
    ),
  );
}

function withHint(error: PlugboardError, query: string, hub: Hub): PlugboardError {
  if (error.data) return error;
  const near = nearest(query, hub.config.servers.keys());
  const failed = hub.status().filter((report) => report.error !== undefined);
  const hint =
    near !== undefined
      ? `Did you mean the server ${near}?`
      : failed.length > 0
        ? `${failed.map(({ name }) => name).join(", ")} did not respond. Run \`plugboard status\` to see why.`
        : undefined;
  if (hint === undefined) return error;
  return new PlugboardError("tool-unknown", error.message, { tool: query, hint, cause: error });
}

/** Returns the server with that name, or throws an error that suggests the closest one. */
export function knownServer({ servers }: LoadedConfig, name: string): ServerEntry {
  const entry = servers.get(name);
  if (entry) return entry;
  const near = nearest(name, servers.keys());
  throw new PlugboardError("server-unknown", `Unknown server: ${name}`, {
    server: name,
    ...(near !== undefined && { hint: `Did you mean "${near}"?` }),
  });
}

/**
 * The server and what follows it, `read files file:///a`. With a server named by --command or --url the name is left
 * out.
 */
export function serverAndRest(
  { servers }: LoadedConfig,
  options: OneOffOptions,
  first: string,
  second: string | undefined,
  what: string,
): [server: string, rest: string] {
  const [only] = oneOffServer(options) && second === undefined ? servers.keys() : [];
  if (only !== undefined) return [only, first];
  if (second !== undefined) return [first, second];
  throw new PlugboardError("usage-invalid", `Name ${what} after the server ${first}.`, {
    hint: "Run the command with --help to see examples.",
  });
}
