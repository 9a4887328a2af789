import type { Command } from "commander";
import type { WarmProcess } from "../../index.ts";
import { json, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

export function command(terminal: Terminal): Command {
  return verb(
    "stop",
    "End the servers that stayed for the next command because of `keepWarm`, and wait until they are gone. A server that a command is using ends with that command.",
    ["stop", "stop files issues", "stop --json"],
  )
    .argument("[names...]", "the servers to end, in all projects (default: all)")
    .action(async (names: string[], options: CommonOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const processes = await workspace.warm.stop(names.length > 0 ? names : undefined);
        // A removed server may still be warm, but a name that is neither is a mistake.
        const unknown = names.filter((name) => !processes.some(({ server }) => server === name));
        if (unknown.length > 0) {
          const config = await workspace.load();
          for (const name of unknown) workspace.require(config, name);
        }
        const ended = processes.filter((process) => process.endsAt !== undefined);
        const inUse = processes.filter((process) => process.endsAt === undefined);
        if (options.json) return terminal.out(json({ ended: ended.map(shown), inUse: inUse.map(shown) }));
        if (processes.length === 0) return terminal.out("No server is warm.\n");
        for (const { server, pid } of ended) terminal.out(`Ended ${safe(server)} (process ${pid}).\n`);
        for (const { server, pid } of inUse)
          terminal.out(
            `${safe(server)} (process ${pid}) is in use and ends with the command that uses it.\n`,
          );
      }),
    );
}

function shown({ server, pid, cwd, startedAt, uses }: WarmProcess) {
  return { server, pid, cwd, startedAt, uses };
}
