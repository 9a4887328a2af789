import type { Command } from "commander";
import { describeOrigin } from "../../index.ts";
import { json, painter, safe } from "../print.ts";
import { diagnosticLine } from "../report.ts";
import { describeServer } from "../server-view.ts";
import type { Terminal } from "../terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

export function command(terminal: Terminal): Command {
  return verb("get", "Show one server's configuration, references unexpanded and secrets hidden.", [
    "get files",
    "get issues --json",
  ])
    .argument("<name>", "the server")
    .action(async (name: string, options: CommonOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const entry = workspace.require(await workspace.load(), name);
        const view = describeServer(entry);
        if (options.json) return terminal.out(json(view));
        const paint = painter(terminal);
        terminal.out(`${paint("bold", safe(name))}  ${safe(view.state)}\n`);
        terminal.out(`  from  ${safe(describeOrigin(entry.origin))}\n`);
        if (view.reason !== undefined)
          terminal.out(`  why   ${safe(view.reason)}. ${safe(view.hint ?? "")}\n`);
        for (const line of fieldLines(view.config)) terminal.out(`  ${line}\n`);
        for (const diagnostic of entry.diagnostics) terminal.out(diagnosticLine(diagnostic, terminal, "out"));
      }),
    );
}

function fieldLines(config: unknown): string[] {
  if (typeof config !== "object" || config === null) return [];
  const width = Math.max(...Object.keys(config).map((key) => safe(key).length));
  return Object.entries(config).map(([key, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `${safe(key).padEnd(width)}  ${safe(text)}`;
  });
}
