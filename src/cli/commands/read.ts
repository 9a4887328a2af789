import { resolve } from "node:path";
import type { Command } from "commander";
import { isMedia, partToText } from "../../host.ts";
import { PlugboardError, contentParts, mediaParts } from "../../index.ts";
import { shellWord } from "../../lib/argv.ts";
import { printable } from "../../lib/printable.ts";
import { takeServer } from "../find.ts";
import { oneOffServer } from "../one-off.ts";
import { json, safe } from "../terminal/print.ts";
import { assertAccounts } from "../arguments/profile.ts";
import { saveFile, textFileName, shownPath } from "../terminal/saved-files.ts";
import { savedLine } from "../views/result.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { terminalAnswers } from "../terminal/answers.ts";
import { serverVerb } from "../server-verb.ts";
import type { ServerOptions } from "../server-verb.ts";
import { withWorkspace } from "../verb.ts";
import { yieldingSpinner } from "../terminal/waiting.ts";
import { loadForUse, withHub } from "../with-hub.ts";

interface ReadOptions extends ServerOptions {
  output?: string;
}

export function command(terminal: Terminal): Command {
  return serverVerb(
    "read",
    "Read a resource. Text goes to standard output (escaped on a terminal, exact in a pipe); everything else is saved to files.",
    [
      "read files file:///notes/today.md",
      "read files file:///logo.png --output pictures",
      "read db table://users --json",
      "read --command 'npx -y @modelcontextprotocol/server-everything' demo://resource/static/document/features.md",
    ],
  )
    .argument("<server>", "the server; left out with --command or --url")
    .argument("[uri]", "a URI listed by `plugboard resources`, or built from a template")
    .option("--output <folder>", "save everything here, including text")
    .action(async (first: string, second: string | undefined, options: ReadOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await loadForUse(workspace, options);
        if (second === undefined && /^[a-z][\w+.-]*:\/\//i.test(first) && !oneOffServer(options))
          throw new PlugboardError("usage-invalid", "Name the server before the URI.", {
            hint: `For example: plugboard read ${shellWord(config.servers.keys().next().value ?? "files")} ${shellWord(first)}`,
          });
        const { entry, rest } = takeServer(config, options, [first, second]);
        const { name: server } = entry;
        const [uri] = rest;
        if (uri === undefined || rest.length > 1)
          throw new PlugboardError("usage-invalid", `Name one URI of ${server}.`, {
            hint: `Run \`plugboard resources ${shellWord(server)}\` to see what it offers.`,
          });
        assertAccounts(entry, options.profile);
        const { onAsking, spinWhile } = yieldingSpinner(`reading from ${server}`);
        const interact = terminalAnswers({ terminal, offersLogin: !options.json, onAsking });
        await withHub(
          terminal,
          { config, tolerant: true, interact, profile: options.profile, insight: options },
          workspace,
          async (hub, signal) => {
            const result = await spinWhile(terminal, () => hub.readResource(server, uri, { signal }), signal);
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
