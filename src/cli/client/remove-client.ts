import { formatById } from "../../config.ts";
import type { Workspace } from "../../config.ts";
import { count, json, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { removalView } from "../views/wiring.ts";
import { assertReadable, mayWrite } from "./consent.ts";
import type { ChangeOptions } from "./consent.ts";
import { readClient } from "./found.ts";
import type { FoundClient } from "./found.ts";
import { gatewayName } from "./gateway-entry.ts";

/** Takes our entries out of the files of these clients. */
export async function removeFromClients(
  clients: readonly string[],
  options: ChangeOptions,
  workspace: Workspace,
  terminal: Terminal,
): Promise<void> {
  const scope = options.scope ?? "user";
  const found = await Promise.all(clients.map((id) => readClient(formatById(id), scope, workspace)));
  assertReadable(found);
  const planned = found.map((client) => ({ client, names: removable(client, options.server) }));
  const pending = planned.filter(({ names }) => names.length > 0);
  if (!options.json) {
    const views = pending.map(({ client, names }) => removalView(client, names, terminal));
    terminal.out(views.join("\n"));
  }
  const files = count(pending.length, "file");
  const isDone =
    pending.length > 0 && (await mayWrite(`Change ${files} of other clients?`, options, terminal));
  const written: { client: string; file: string; how: keyof typeof removalWords; isGone: boolean }[] = [];
  if (isDone) {
    for (const { client, names } of pending) {
      const result = await workspace.wiring.remove(client.format, scope, names);
      if (result) written.push({ client: client.format.id, ...result });
    }
  }
  if (options.json) {
    const shown = planned.map(({ client, names }) => ({
      client: client.format.id,
      file: client.file,
      names,
    }));
    return terminal.out(json({ clients: shown, written }));
  }
  for (const { client, names } of planned)
    if (names.length === 0)
      terminal.out(`${client.format.title} has no entry of Plugboard in ${safe(client.file)}.\n`);
  if (pending.length > 0 && !isDone) terminal.out("Nothing was changed.\n");
  for (const { file, how, isGone } of written)
    terminal.out(isGone ? `Removed ${safe(file)}\n` : `Wrote ${safe(file)}  ${removalWords[how]}\n`);
}

const removalWords = {
  restored: "as it was before",
  cut: "without what was added; what changed since stays",
  edited: "without the entry, whose text others had changed",
};

/** Entries that `add` wrote and the file still has, and entries for a gateway that were written by hand. */
function removable(
  { entries, servers, gateway, other }: FoundClient,
  chosen: string[] | undefined,
): string[] {
  const written = other ? entries.filter((name) => name !== gatewayName) : entries;
  const ours = new Set([...written, ...(gateway ? [gatewayName] : [])]);
  const there = servers.map(({ name }) => name).filter((name) => ours.has(name));
  return chosen ? there.filter((name) => chosen.includes(name)) : there;
}
