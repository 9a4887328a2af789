import type { Command } from "commander";
import { PlugboardError, parseConfig } from "../../index.ts";
import type { WritableScope } from "../../index.ts";
import { addServer } from "../add-server.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { scopeOption, verb } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

export function command(terminal: Terminal): Command {
  return verb("add-json", "Add a server given as a JSON object.", [
    `add-json files '{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem","."]}'`,
    "add-json issues - < server.json",
  ])
    .argument("<name>", "the server's name")
    .argument("<json>", "its configuration; `-` reads standard input")
    .addOption(scopeOption("where to write it").default("local"))
    .option("--force", "replace a server of that name")
    .action(
      async (
        name: string,
        text: string,
        options: CommonOptions & { scope: WritableScope; force?: boolean },
      ) => {
        const input = text === "-" ? await terminal.readInput() : text;
        await addServer(name, await parseObject(input), options, terminal);
      },
    );
}

/** Comments and trailing commas are fine here too: the text may have been copied from a file. */
async function parseObject(text: string): Promise<Record<string, unknown>> {
  const { diagnostics, servers } = await parseConfig(`{"mcpServers":{"server":${text}\n}}`);
  const written = servers[0]?.written;
  if (typeof written === "object" && written !== null && !Array.isArray(written))
    return written as Record<string, unknown>;
  const why = diagnostics[0]?.message ?? "expected an object";
  throw new PlugboardError("usage-invalid", `This is not a JSON object: ${why}.`, {
    hint: `For instance: '{"command":"npx","args":["-y","some-server"]}'`,
  });
}
