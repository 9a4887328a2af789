import { PlugboardError, isPlugboardError } from "../errors.ts";
import { nearest } from "../lib/suggest.ts";
import { uncertain } from "./find-tool.ts";
import type { Meant } from "./meant.ts";
import type { PromptCommand } from "./prompts.ts";

/** Lists a server's prompts, from the server or from what is known, if anything is. Throws the server's error. */
export type ListPrompts<T extends PromptCommand> = (server: string) => Promise<readonly T[] | undefined>;

/**
 * Finds a prompt by its id, `server.prompt`, `server/prompt`, or a bare name that only one server has. Asks only the
 * server in the query, or all servers for a bare name.
 */
export async function findPrompt<T extends PromptCommand>(
  query: string,
  meant: readonly Meant[],
  servers: readonly string[],
  list: ListPrompts<T>,
): Promise<T> {
  if (meant.length === 0) return findByName(query, servers, list);
  const asked: T[] = [];
  let failure: PlugboardError | undefined;
  for (const { server, name } of meant) {
    try {
      const prompts = (await list(server)) ?? [];
      const found = prompts.find((one) => (name === undefined ? one.id === query : one.name === name));
      if (found) return found;
      asked.push(...prompts);
    } catch (error) {
      if (!isPlugboardError(error) || isPlugboardError(error, "call-cancelled")) throw error;
      failure = error;
    }
  }
  throw failure ?? unknownPrompt(query, asked);
}

async function findByName<T extends PromptCommand>(
  query: string,
  servers: readonly string[],
  list: ListPrompts<T>,
): Promise<T> {
  const prompts = await Promise.all(servers.map((server) => list(server).catch(ignoreFailure)));
  const all = prompts.flatMap((listed) => listed ?? []);
  const named = all.filter(({ name }) => name === query);
  const [only] = named.length === 1 ? named : [];
  const silent = servers.filter((_, at) => prompts[at] === undefined);
  if (only && silent.length > 0) throw uncertain("prompt", query, only.id, silent);
  if (only) return only;
  throw unknownPrompt(query, all);
}

/** The prompts of a server that fails are not known; a cancelled search still throws. */
function ignoreFailure(error: unknown): undefined {
  if (!isPlugboardError(error) || isPlugboardError(error, "call-cancelled")) throw error;
  return undefined;
}

function unknownPrompt(query: string, known: readonly PromptCommand[]): PlugboardError {
  const written = known.flatMap(({ id, server, name }) => [id, name, `${server}.${name}`]);
  const near = nearest(query, written.slice(0, maxCompared));
  return new PlugboardError("tool-unknown", `There is no prompt "${query}".`, {
    hint: near ? `Did you mean ${near}?` : "`plugboard prompts` lists them.",
  });
}

const maxCompared = 1_000;
