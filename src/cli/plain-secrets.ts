import { literalSecrets } from "../config.ts";
import type { Origin } from "../config.ts";
import { joinArgv } from "../lib/argv.ts";
import { painter, safe } from "./terminal/print.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** True for files that others are likely to have too. */
export function isShared({ scope }: Origin): boolean {
  return scope === "project" || scope === "explicit";
}

/** The fields of an entry in a shared file that seem to be secrets in plain text. */
export function plainSecrets(server: string, written: unknown, origin: Origin): string[] {
  return isShared(origin) ? [...new Set(literalSecrets(server, written).map(({ field }) => field))] : [];
}

export function warnOfPlainSecrets(
  server: string,
  fields: readonly string[],
  { file = "the file" }: Origin,
  terminal: Terminal,
): void {
  if (fields.length === 0) return;
  const paint = painter(terminal, "err");
  const is = fields.length === 1 ? "is" : "are";
  const words = `${fields.join(", ")} of ${server} ${is} in plain text in ${file}, which others may read. Move the value to the vault: ${moveCommand(server)}`;
  terminal.err(`${paint("yellow", "warning:")} ${safe(words)}\n`);
}

export function moveCommand(server: string): string {
  return joinArgv(["plugboard", "secret", "move", server]);
}
