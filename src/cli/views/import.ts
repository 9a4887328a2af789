import type { ForeignFile, PlannedServer } from "../../index.ts";
import { painter, safe } from "../terminal/print.ts";
import { targetOf } from "./server.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Reports an import: each file, each server, and what was changed or lost. */
export function importView(
  files: readonly ForeignFile[],
  planned: readonly PlannedServer[],
  terminal: Terminal,
): string {
  const paint = painter(terminal);
  if (files.length === 0) return "No configuration files of other clients found.\n";
  const blocks = files.map((file) => {
    const { format, imported, problem } = file;
    const own = planned.filter(({ from }) => from.file === file.file && from.client === format.id);
    const lines = [`${paint("bold", format.title)}  ${paint("dim", safe(file.file))}`];
    if (problem !== undefined) lines.push(`  ${paint("red", "unreadable")}  ${safe(problem)}`);
    for (const server of own) lines.push(...serverLines(server, terminal));
    for (const { name, reason } of imported.skipped)
      lines.push(`  ${paint("yellow", "skip")}  ${safe(name)}  ${safe(reason)}`);
    for (const note of imported.notes)
      lines.push(`    ${safe(note.kind)}: ${safe(note.field)}: ${safe(note.message)}`);
    if (lines.length === 1) lines.push("  no servers");
    return `${lines.join("\n")}\n`;
  });
  return `${blocks.join("\n")}\n`;
}

function serverLines({ name, config, scope, action, notes }: PlannedServer, terminal: Terminal): string[] {
  const paint = painter(terminal);
  const words = { add: paint("green", "add "), same: paint("dim", "have"), taken: paint("yellow", "keep") };
  const where =
    action === "add"
      ? `→ ${scope}`
      : action === "same"
        ? "already configured"
        : "you have another server with this name";
  const target = targetOf({ config, written: config });
  return [
    `  ${words[action]}  ${safe(name)}  ${safe(target)}  ${paint("dim", where)}`,
    ...notes.map(
      (note) =>
        `        ${paint(note.kind === "translated" ? "dim" : "yellow", note.kind)}  ${safe(note.field)}: ${safe(note.message)}`,
    ),
  ];
}
