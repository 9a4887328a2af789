import { previewServer } from "../../config.ts";
import type { ForeignFile, PlannedServer, Scripts } from "../../config.ts";
import { hanging, painter, safe } from "../terminal/print.ts";
import { previewText } from "./preview.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** A planned server, and the project's files that it runs. */
export interface ReviewedServer extends PlannedServer {
  scripts: Scripts;
}

/** Reports an import: each file, each server, and what was changed or lost. */
export function importView(
  files: readonly ForeignFile[],
  planned: readonly ReviewedServer[],
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
      lines.push(`  ${paint("yellow", "skip")}  ${hanging(`${safe(name)}  ${safe(reason)}`, 10, terminal)}`);
    for (const note of imported.notes)
      lines.push(
        `    ${hanging(`${safe(note.kind)}: ${safe(note.field)}: ${safe(note.message)}`, 6, terminal)}`,
      );
    if (lines.length === 1) lines.push("  no servers");
    return `${lines.join("\n")}\n`;
  });
  return `${blocks.join("\n")}\n`;
}

/** A server that is added is shown in full. A project's values are not your secrets, so they are shown as written. */
function serverLines(server: ReviewedServer, terminal: Terminal): string[] {
  const { name, config, scope, action, differs, notes, from, scripts } = server;
  const fields = safe(differs?.join(", ") ?? "");
  const paint = painter(terminal);
  const words = {
    add: [paint("green", "add "), `→ ${scope}`],
    same: [
      paint("dim", "have"),
      differs ? `already configured; yours differs in ${fields}` : "already configured",
    ],
    double: [paint("dim", "same"), "another client has it too"],
    taken: [paint("yellow", "keep"), `yours is another server; it differs in ${fields}`],
    left: [paint("dim", "skip"), "not chosen"],
  };
  const [word = "", where = ""] = words[action];
  const preview = () =>
    previewText(
      previewServer(config, { exact: from.scope === "project" }),
      { scripts, place: from.file, indent: "        " },
      terminal,
    );
  return [
    `  ${word}  ${paint("bold", safe(name))}${from.name === name ? "" : safe(` (${from.name} there)`)}  ${paint("dim", where)}`,
    ...(action === "add" ? preview().trimEnd().split("\n") : []),
    ...notes.map(
      (note) =>
        `        ${paint(note.kind === "translated" ? "dim" : "yellow", note.kind)}  ${hanging(`${safe(note.field)}: ${safe(note.message)}`, 22, terminal)}`,
    ),
  ];
}
