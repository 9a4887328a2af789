import { PlugboardError } from "../../../errors.ts";
import { printable } from "../../../lib/printable.ts";
import { isRecord } from "../../../lib/record.ts";
import type { HttpClient } from "./client.ts";
import { readableLength } from "./status.ts";

/** The messages of one body or one event: one, or a list of them. What is no object is left out. */
export function parseMessages(bytes: Buffer, client: HttpClient): Record<string, unknown>[] {
  const parsed = parseJson(bytes.toString("utf8"), client);
  const all = Array.isArray(parsed) ? (parsed as unknown[]) : [parsed];
  return all.filter(isRecord);
}

/** The parser's own reason quotes the text, so it is not passed on. */
function parseJson(text: string, { server, redact }: HttpClient): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const begin = printable(redact(text.slice(0, readableLength)).slice(0, 60), { oneLine: true });
    throw new PlugboardError("protocol-error", `"${server}" sent JSON that cannot be parsed: ${begin}`, {
      server,
    });
  }
}
