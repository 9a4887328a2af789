import { describeOrigin } from "../index.ts";
import type { WritableScope } from "../index.ts";
import { keepSecret } from "./keep-secret.ts";
import { plainSecrets, warnOfPlainSecrets } from "./plain-secrets.ts";
import { json, safe } from "./terminal/print.ts";
import { describeServer } from "./views/server.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { withWorkspace } from "./verb.ts";
import type { CommonOptions } from "./verb.ts";

/** The value of a `${secret:NAME}` that the new entry uses. */
export interface KeptSecret {
  name: string;
  /** Absent if it is set later. */
  value?: string;
}

/** Shared by `add` and `add-json`: writes the entry and reports where it went. */
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
    if (secret?.value !== undefined) await keepSecret(await workspace.vault(), secret.name, secret.value);
    const entry = (await workspace.load()).servers.get(name);
    const plain = plainSecrets(name, written, origin);
    if (options.json) {
      const server = entry && describeServer(entry);
      terminal.out(
        json({ added: name, ...origin, server, ...(plain.length > 0 && { plainSecrets: plain }) }),
      );
      return;
    }
    const { type, target } = entry ? describeServer(entry) : { type: "", target: "" };
    terminal.out(
      `Added ${type} server ${safe(name)} to ${safe(describeOrigin(origin))}\n  ${safe(target)}\n`,
    );
    warnOfPlainSecrets(name, plain, origin, terminal);
    if (entry && entry.origin.file !== origin.file) {
      terminal.err(
        `note: ${safe(describeOrigin(entry.origin))} also has a server with this name and takes precedence.\n`,
      );
    } else if (entry?.status.kind === "disabled") {
      terminal.err(`note: ${safe(entry.status.message)}. ${safe(entry.status.hint)}\n`);
    }
  });
}
