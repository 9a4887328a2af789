import { describeOrigin } from "../index.ts";
import type { WritableScope } from "../index.ts";
import { keepSecret } from "./keep-secret.ts";
import { json, safe } from "./terminal/print.ts";
import { describeServer } from "./views/server.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { withWorkspace } from "./verb.ts";
import type { CommonOptions } from "./verb.ts";

/** A value for a `${secret:NAME}` of the new entry. */
export interface KeptSecret {
  name: string;
  value: string;
}

/** What `add` and `add-json` have in common: write, then say what was written where. */
export async function addServer(
  name: string,
  written: Record<string, unknown>,
  options: CommonOptions & { scope: WritableScope; force?: boolean },
  terminal: Terminal,
  secret?: KeptSecret,
): Promise<void> {
  await withWorkspace(terminal, options, async (workspace) => {
    const origin = await workspace.add(name, written, {
      scope: options.scope,
      force: options.force ?? false,
    });
    if (secret) await keepSecret(await workspace.vault(), secret.name, secret.value);
    const entry = (await workspace.load()).servers.get(name);
    if (options.json) {
      terminal.out(json({ added: name, ...origin, server: entry && describeServer(entry) }));
      return;
    }
    const { type, target } = entry ? describeServer(entry) : { type: "", target: "" };
    terminal.out(
      `Added ${type} server ${safe(name)} to ${safe(describeOrigin(origin))}\n  ${safe(target)}\n`,
    );
    if (entry && entry.origin.file !== origin.file) {
      terminal.err(`note: ${safe(describeOrigin(entry.origin))} has a server of this name, which wins.\n`);
    } else if (entry?.status.kind === "disabled") {
      terminal.err(`note: ${safe(entry.status.message)}. ${safe(entry.status.hint)}\n`);
    }
  });
}
