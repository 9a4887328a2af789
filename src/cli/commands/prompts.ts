import type { Command } from "commander";
import { promptUsage } from "../../host.ts";
import type { View } from "../../index.ts";
import { runList } from "../list-verb.ts";
import type { ListOptions } from "../list-verb.ts";
import { listedText } from "../views/listed.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { serverVerb } from "../server-verb.ts";

export function command(terminal: Terminal): Command {
  return serverVerb("prompts", "List the prompts that servers offer, with their arguments.", [
    "prompts",
    "prompts issues",
    "prompts --json",
  ])
    .argument("[server]", "only this server")
    .option("--refresh", "ask the servers instead of using remembered lists")
    .action(async (server: string | undefined, options: ListOptions) => {
      const show = async (view: View, mark?: string) => {
        const prompts = await view.commands({ wait: false });
        const listed = prompts.map((prompt) => ({
          server: prompt.server,
          name: promptUsage(prompt.id, prompt.arguments).slice(1),
          about: prompt.description ?? prompt.title ?? "",
        }));
        const text = listedText(listed, "prompt", terminal, mark);
        return { value: { prompts }, text, nothing: "No prompts.\n" };
      };
      await runList({ server, options, kinds: ["prompts"], show }, terminal);
    });
}
