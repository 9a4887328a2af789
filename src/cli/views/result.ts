import { isMedia, mirroredValue, partToText } from "../../host.ts";
import { contentParts, mediaParts } from "../../index.ts";
import type { CallResult, MediaFile } from "../../index.ts";
import { formatBytes } from "../../lib/format-bytes.ts";
import { isRecord } from "../../lib/record.ts";
import { printable } from "../../lib/printable.ts";
import { shellWord } from "../../lib/argv.ts";
import { painter, safe } from "../terminal/print.ts";
import { shownPath, saveFile } from "../terminal/saved-files.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { valueText } from "./value-lines.ts";

/**
 * Prints a result: escaped text, structured content as names and values, links, and media saved to `folder`. Shows
 * nothing twice. A result with `isError` goes to standard error.
 */
export async function showResult(result: CallResult, folder: string, terminal: Terminal): Promise<void> {
  let bytes = 0;
  const write = (text: string) => {
    bytes += Buffer.byteLength(text);
    if (result.isError) terminal.err(text);
    else terminal.out(text);
  };
  const paint = painter(terminal, result.isError ? "err" : "out");
  if (result.isError) terminal.err(`${paint("red", "error:")} The tool reported an error:\n`);
  const parts = contentParts(result);
  const mirrored = mirroredValue(parts, result.structuredContent);
  const isStructured =
    mirrored !== undefined && typeof mirrored.value === "object" && mirrored.value !== null;
  const files = mediaParts(result).values();
  for (const part of parts) {
    if (isStructured && part.kind === "text") continue;
    if (isMedia(part)) {
      const { value: file } = files.next();
      if (file) write(`${await savedLine(file, folder, terminal)}\n`);
    } else if (part.kind === "link") {
      const name = part.name === undefined ? "" : `  ${safe(part.name)}`;
      const type = part.mimeType === undefined ? "" : paint("dim", `  ${safe(part.mimeType)}`);
      write(`${paint("cyan", safe(part.uri))}${name}${type}\n`);
    } else write(endLine(printable(partToText(part))));
  }
  if (isStructured) write(endLine(valueText(mirrored.value)));
  else if (result.structuredContent !== undefined && !mirrored) {
    write(endLine(valueText(result.structuredContent)));
  }
  reportOutput(result, bytes, terminal);
  if (result.isError) terminal.exitCode = 1;
}

export async function savedLine(file: MediaFile, folder: string, terminal: Terminal): Promise<string> {
  const bytes = file.bytes();
  const what = `${file.kind} ${safe(file.mimeType)}`;
  if (!bytes) return `${what}: the server sent invalid base64, so nothing was saved`;
  const path = await saveFile(folder, file.name, bytes);
  return `${what}, ${formatBytes(bytes.length)}, saved as ${safe(shownPath(path, terminal.cwd))}`;
}

/** Reports how Plugboard changed the result or the arguments, and how large a large result is. */
export function reportOutput({ _meta }: CallResult, bytes: number, terminal: Terminal): void {
  const paint = painter(terminal, "err");
  const say = (text: string) => terminal.err(`${paint("dim", safe(text))}\n`);
  const note = _meta?.["plugboard/output"];
  if (isRecord(note) && typeof note["handle"] === "string") {
    const tokens =
      typeof note["tokens"] === "number" ? ` of about ${note["tokens"].toLocaleString("en-US")} tokens` : "";
    say(
      `The middle of this result${tokens} was left out. Page through it with \`plugboard result ${shellWord(note["handle"])}\`, or repeat the call with --whole.`,
    );
  } else if (isRecord(note) && note["cut"] === true)
    say("Cut, and the whole result was not kept. Call again with --whole.");
  else if (isRecord(note) && typeof note["tokens"] === "number")
    say(
      `A large result: ${formatBytes(bytes)}, about ${note["tokens"].toLocaleString("en-US")} tokens.${terminal.isScreen ? "" : " It was written whole."}`,
    );
  const repaired = _meta?.["plugboard/arguments"];
  if (Array.isArray(repaired)) for (const text of repaired) say(`Corrected: ${String(text)}`);
}

function endLine(text: string): string {
  return text.endsWith("\n") || text === "" ? text : `${text}\n`;
}

/** Saves a result's images and other files without printing it, and reports the paths on standard error. */
export async function saveMedia(result: CallResult, folder: string, terminal: Terminal): Promise<void> {
  for (const file of mediaParts(result)) terminal.err(`${await savedLine(file, folder, terminal)}\n`);
}
