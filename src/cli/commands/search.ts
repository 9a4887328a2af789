import type { Command } from "commander";
import type { View } from "../../index.ts";
import { wholeNumber } from "../arguments/whole-number.ts";
import { showList, withServers } from "../list-verb.ts";
import type { ListOptions, Shown } from "../list-verb.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { serverVerb } from "../server-verb.ts";
import { rankedText } from "../views/listed.ts";

interface SearchOptions extends ListOptions {
  limit?: number;
  server?: string;
}

export function command(terminal: Terminal): Command {
  return serverVerb(
    "search",
    "Find tools by what they do, the best first. Uses remembered lists and asks only servers without one. Exits with 1 if nothing is found.",
    ["search read a file", "search 'create an issue in github'", "search weather --limit 3 --json"],
  )
    .argument("<words...>", "what the tool should do; name the service if you know it")
    .option("--limit <number>", "how many tools to show (default: 10)", wholeNumber)
    .option("--server <name>", "search only this server")
    .option("--refresh", "ask the servers instead of using remembered lists")
    .action(async (words: string[], options: SearchOptions) => {
      const { server, limit } = options;
      const query = words.join(" ");
      // Where there is no server at all, nothing is found either.
      terminal.exitCode = 1;
      await withServers({ options, server }, terminal, async (hub, failures) => {
        // A query without words fails before any server is started.
        await hub.search(query, { wait: false });
        const show = (view: View) => found(view, query, limit, terminal);
        const listing = { server, options, kinds: ["tools"] as const, isBestEffort: true, show };
        await showList(hub, listing, failures, terminal);
      });
    });
}

async function found(
  view: View,
  query: string,
  limit: number | undefined,
  terminal: Terminal,
): Promise<Shown> {
  const results = await view.search(query, { limit, wait: false });
  const listed = results.map(({ tool: { server, id, description, title } }) => ({
    server,
    name: id,
    about: description ?? title ?? "",
  }));
  terminal.exitCode = results.length === 0 ? 1 : 0;
  return { value: { results }, text: rankedText(listed, terminal), nothing: nothingFound };
}

const nothingFound =
  "No tool was found. Try other words for what it should do, or run `plugboard tools` to see all tools.\n";
