import type { Command } from "commander";
import { parseConfig } from "../../config.ts";
import { PlugboardError } from "../../index.ts";
import type { WritableScope } from "../../config.ts";
import { isRecord } from "../../lib/record.ts";
import { addServer } from "../add-server.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { scopeOption, verb } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

export function command(terminal: Terminal): Command {
  return verb("add-json", "Add a server from a JSON object.", [
    `add-json files '{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem","."]}'`,
    "add-json issues - < server.json",
  ])
    .argument("<name>", "the server's name")
    .argument("<json>", "the server's configuration; `-` reads standard input")
    .addOption(scopeOption("the scope to add it to").default("local"))
    .option("--force", "replace an existing server with that name")
    .action(
      async (
        name: string,
        text: string,
        options: CommonOptions & { scope: WritableScope; force?: boolean },
      ) => {
        const input = text === "-" ? await terminal.readInput() : text;
        await addServer(name, unwrapped(await parseObject(input)), options, terminal);
      },
    );
}

/** People copy whole files: `{ "mcpServers": { "name": { … } } }` with one server means that server. */
function unwrapped(written: Record<string, unknown>): Record<string, unknown> {
  const [key, ...others] = Object.keys(written);
  const servers = key === "mcpServers" || key === "servers" ? written[key] : undefined;
  if (others.length > 0 || !isRecord(servers)) return written;
  const [only, ...more] = Object.values(servers);
  if (more.length === 0 && isRecord(only)) return only;
  throw new PlugboardError("usage-invalid", "Give the configuration of one server.", {
    hint: "To add several, save them in a file and run `plugboard import claude-code --from FILE`.",
  });
}

/** Accepts comments and trailing commas, because the text is often copied from a file. */
async function parseObject(text: string): Promise<Record<string, unknown>> {
  const { diagnostics, servers } = await parseConfig(`{"mcpServers":{"server":${text}\n}}`);
  const written = servers[0]?.written;
  if (typeof written === "object" && written !== null && !Array.isArray(written))
    return written as Record<string, unknown>;
  const why = diagnostics[0]?.message ?? "expected an object";
  throw new PlugboardError("usage-invalid", `Not a JSON object: ${why}.`, {
    hint: `Example: '{"command":"npx","args":["-y","some-server"]}'`,
  });
}
