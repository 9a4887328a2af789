import { PlugboardError } from "../../../errors.ts";
import { printable } from "../../../lib/printable.ts";
import { isRecord } from "../../../lib/record.ts";
import type { HttpClient } from "./client.ts";
import { readableLength } from "./status.ts";
import { parseExact } from "../../../lib/exact-json.ts";

/** Parses the message, or list of messages, in a body or an event. Skips values that are not objects. */
export function parseMessages(bytes: Buffer, client: HttpClient): Record<string, unknown>[] {
  const parsed = parseJson(bytes.toString("utf8"), client);
  const all = Array.isArray(parsed) ? (parsed as unknown[]) : [parsed];
  return all.filter(isRecord);
}

/** Does not pass on the parser's error, because it quotes the text. */
function parseJson(text: string, { server, redact }: HttpClient): unknown {
  try {
    return parseExact(text);
  } catch {
    const begin = printable(redact(text.slice(0, readableLength)).slice(0, 60), { oneLine: true });
    throw new PlugboardError("protocol-error", `"${server}" sent JSON that cannot be parsed: ${begin}`, {
      server,
    });
  }
}
