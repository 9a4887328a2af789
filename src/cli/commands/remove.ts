import type { Command } from "commander";
import { describeOrigin } from "../../index.ts";
import type { Scope } from "../../index.ts";
import { json, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { scopeOption, verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

export function command(terminal: Terminal): Command {
  return verb("remove", "Remove a server. The rest of the file does not change.", [
    "remove files",
    "remove issues --scope project",
  ])
    .argument("<name>", "the server")
    .addOption(scopeOption("the scope to remove it from, if it is in several"))
    .action(async (name: string, options: CommonOptions & { scope?: Scope }) =>
      withWorkspace(terminal, options, async (workspace) => {
        const origin = await workspace.remove(name, options.scope);
        if (options.json) terminal.out(json({ removed: name, ...origin }));
        else
          terminal.out(
            `Removed ${safe(name)} from ${safe(describeOrigin({ scope: origin.scope, ...(origin.file ? { file: origin.file } : {}) }))}.\n`,
          );
      }),
    );
}
