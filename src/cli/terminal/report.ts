import { errorTable } from "../../host.ts";
import { PlugboardError, isPlugboardError } from "../../index.ts";
import type { Diagnostic } from "../../config.ts";
import { lastLines } from "../../lib/last-words.ts";
import { json, painter, safe } from "./print.ts";
import { withSameConfig } from "./same-config.ts";
import type { Terminal } from "./terminal.ts";

/** Prints an error as text or JSON and returns the exit code. */
export function reportError(error: unknown, terminal: Terminal, asJson: boolean, config?: string): number {
  const known = isPlugboardError(error) ? error : unexpected(error);
  if (asJson) terminal.out(json({ error: known.toJSON() }));
  else {
    const paint = painter(terminal, "err");
    terminal.err(`${paint("red", "error:")} ${safe(known.message)}\n`);
    for (const line of stderrTail(known)) terminal.err(`${paint("dim", `       │ ${safe(line)}`)}\n`);
    const hint = withSameConfig(known.hint, config);
    if (hint) terminal.err(`${paint("dim", "       " + safe(hint))}\n`);
  }
  return known.exitCode;
}

/** The server's last lines on stderr. A single line is already part of the message. */
function stderrTail({ data }: PlugboardError): string[] {
  const text = data?.["stderr"];
  const lines = typeof text === "string" ? lastLines(text, 5) : [];
  return lines.length > 1 ? lines : [];
}

function unexpected(error: unknown): PlugboardError {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new PlugboardError("internal", text, { cause: error });
}

/** `error: .mcp.json:4:7 mcpServers.files.comand: …` */
export function diagnosticLine(
  diagnostic: Diagnostic,
  terminal: Terminal,
  stream: "out" | "err" = "err",
): string {
  const paint = painter(terminal, stream);
  const { severity, file, line, column, path, message, suggestion } = diagnostic;
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  const where = [place, path].filter(Boolean).map(safe).join(" ");
  const label = severity === "error" ? paint("red", "error:") : paint("yellow", "warning:");
  const tail = suggestion ? ` — ${safe(suggestion)}` : "";
  return `${label} ${where}${where ? ": " : ""}${safe(message)}${tail}\n`;
}

/** The exit code of a verb that shows a configuration: one with mistakes is not a success. */
export function exitCodeOfMistakes(diagnostics: readonly Diagnostic[]): number {
  return diagnostics.some(({ severity }) => severity === "error") ? errorTable["config-invalid"].exitCode : 0;
}

/** Prints a short report to stderr about the parts of the configuration that were set aside. */
export function reportDiagnostics(
  diagnostics: readonly Diagnostic[],
  terminal: Terminal,
  config?: string,
): void {
  const limit = 5;
  const shown = diagnostics.filter(({ severity }) => severity === "error").slice(0, limit);
  const warnings = diagnostics.filter(({ severity, path }) => severity === "warning" && path === "");
  for (const diagnostic of [...warnings, ...shown]) terminal.err(diagnosticLine(diagnostic, terminal));
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  if (errors > limit) {
    const hint = withSameConfig("Run `plugboard config validate` to see all of them.", config);
    terminal.err(`… and ${errors - limit} more. ${safe(hint)}\n`);
  }
}
