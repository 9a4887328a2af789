import type { Command } from "commander";
import { promptUsage } from "../../index.ts";
import type { View } from "../../index.ts";
import { runList } from "../list-verb.ts";
import type { ListOptions } from "../list-verb.ts";
import { listedText } from "../views/listed.ts";
import { profileOption } from "../arguments/profile.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb } from "../verb.ts";

export function command(terminal: Terminal): Command {
  return verb("prompts", "List the prompts that servers offer, with their arguments.", [
    "prompts",
    "prompts issues",
    "prompts --json",
  ])
    .argument("[server]", "only this server")
    .option("--refresh", "ask the servers instead of using remembered lists")
    .addOption(profileOption())
    .action(async (server: string | undefined, options: ListOptions) => {
      const show = async (view: View) => {
        const prompts = await view.commands({ wait: false });
        const listed = prompts.map((prompt) => ({
          server: prompt.server,
          name: promptUsage(prompt.id, prompt.arguments).slice(1),
          about: prompt.description ?? prompt.title ?? "",
        }));
        return { value: { prompts }, text: listedText(listed, "prompt", terminal) };
      };
      await runList({ server, options, kinds: ["prompts"], show }, terminal);
    });
}
