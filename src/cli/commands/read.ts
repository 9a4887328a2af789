import { resolve } from "node:path";
import type { Command } from "commander";
import { contentParts, isMedia, mediaParts, partToText } from "../../index.ts";
import { printable } from "../../lib/printable.ts";
import { knownServer } from "../find.ts";
import { json, safe } from "../terminal/print.ts";
import { assertAccounts, profileOption } from "../arguments/profile.ts";
import type { ProfileOptions } from "../arguments/profile.ts";
import { saveFile, textFileName, shownPath } from "../terminal/saved-files.ts";
import { savedLine } from "../views/result.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { terminalAnswers } from "../terminal/answers.ts";
import { verb, withWorkspace } from "../verb.ts";
import { yieldingSpinner } from "../terminal/waiting.ts";
import { loadForUse, withHub } from "../with-hub.ts";

interface ReadOptions extends ProfileOptions {
  output?: string;
}

export function command(terminal: Terminal): Command {
  return verb(
    "read",
    "Read a resource. Text goes to standard output (escaped on a terminal, exact in a pipe); everything else is saved to files.",
    [
      "read files file:///notes/today.md",
      "read files file:///logo.png --output pictures",
      "read db table://users --json",
    ],
  )
    .argument("<server>", "the server")
    .argument("<uri>", "a URI listed by `plugboard resources`, or built from a template")
    .option("--output <folder>", "save everything here, including text")
    .addOption(profileOption())
    .action(async (server: string, uri: string, options: ReadOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await loadForUse(workspace);
        assertAccounts(knownServer(config, server), options.profile);
        const { onAsking, spinWhile } = yieldingSpinner(`reading from ${server}`);
        const interact = terminalAnswers({ terminal, offersLogin: !options.json, onAsking });
        await withHub(
          terminal,
          { config, tolerant: true, interact, profile: options.profile },
          workspace,
          async (hub, signal) => {
            const result = await spinWhile(terminal, () => hub.readResource(server, uri, { signal }));
            if (options.json) return terminal.out(json(result));
            await showContents(result.contents, options, terminal);
          },
        );
      }),
    );
}

async function showContents(
  contents: readonly Record<string, unknown>[],
  { output }: ReadOptions,
  terminal: Terminal,
): Promise<void> {
  const folder = resolve(terminal.cwd, output ?? ".");
  const result = { content: contents.map((resource) => ({ type: "resource", resource })) };
  const files = mediaParts(result).values();
  for (const part of contentParts(result)) {
    if (isMedia(part)) {
      const { value: file } = files.next();
      if (file) terminal.err(`${await savedLine(file, folder, terminal)}\n`);
    } else if (output !== undefined && part.kind === "resource") {
      const path = await saveFile(folder, textFileName(part.uri, part.mimeType), part.text);
      terminal.err(`text: saved as ${safe(shownPath(path, terminal.cwd))}\n`);
    } else {
      const text = partToText(part);
      terminal.out(terminal.isScreen ? `${printable(text).replace(/\n$/, "")}\n` : text);
    }
  }
  if (contents.length === 0) terminal.err("The resource is empty.\n");
}
