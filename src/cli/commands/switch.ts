import type { Command } from "commander";
import { json, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

/** `enable` and `disable` share one implementation. */
export const enable = (terminal: Terminal): Command => command("enable", terminal);
export const disable = (terminal: Terminal): Command => command("disable", terminal);

function command(name: "enable" | "disable", terminal: Terminal): Command {
  const enabled = name === "enable";
  return verb(name, `${enabled ? "Enable" : "Disable"} a server in the file that defines it.`, [
    `${name} files`,
  ])
    .argument("<name>", "the server")
    .action(async (server: string, options: CommonOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const origin = await workspace.setEnabled(server, enabled);
        if (options.json) terminal.out(json({ server, enabled, ...origin }));
        else
          terminal.out(
            `${enabled ? "Enabled" : "Disabled"} ${safe(server)} in ${safe(origin.file ?? "")}.\n`,
          );
      }),
    );
}
