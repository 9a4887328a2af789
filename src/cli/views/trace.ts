import type { TraceEntry } from "../../host.ts";
import { formatBytes } from "../../lib/format-bytes.ts";
import { isRecord } from "../../lib/record.ts";
import { safe } from "../terminal/print.ts";
import type { Paint } from "../terminal/print.ts";
import { clockTime } from "./clock-time.ts";

/** More of a message is not shown in readable form; as JSON lines it is whole. */
const maxCharacters = 2_000;
/** Requests that are never answered must not pile up. */
const maxWaiting = 1_000;

/** Writes trace entries as lines for people. Answers name the method of their request, and how long it took. */
export function traceWriter(paint: Paint): (entry: TraceEntry) => string {
  const waiting = new Map<string, { method: string; at: number }>();
  const ask = (entry: TraceEntry, id: string, method: string) => {
    const [oldest] = waiting.size >= maxWaiting ? waiting.keys() : [];
    if (oldest !== undefined) waiting.delete(oldest);
    waiting.set(keyOf(entry, id), { method, at: entry.at });
  };
  const answerOf = (entry: TraceEntry, id: string) => {
    const asked = waiting.get(keyOf(entry, id));
    waiting.delete(keyOf(entry, id));
    return asked ? `${asked.method} ${id}  ${entry.at - asked.at} ms` : id;
  };
  const words = (entry: TraceEntry): string => {
    if (entry.kind === "opened") return `connected over ${entry.transport ?? "?"}`;
    if (entry.kind === "skipped") return `not a message: ${cut(entry.text ?? "")}`;
    if (entry.kind === "closed") return `closed: ${entry.error?.message ?? ""}`;
    if (entry.kind === "failed")
      return `${answerOf(entry, entry.id ?? "?")}  failed: ${entry.error?.message}`;
    const { message } = entry;
    if (!isRecord(message)) return cut(text(message));
    const { id, method, params, result, error } = message;
    const number = typeof id === "string" || typeof id === "number" ? String(id) : undefined;
    if (typeof method === "string") {
      if (number !== undefined) ask(entry, number, method);
      return [method, number, cut(text(params), entry.bytes)].filter(Boolean).join(" ");
    }
    const what = error === undefined ? text(result) : `error ${text(error)}`;
    return `${answerOf(entry, number ?? "?")}  ${cut(what, entry.bytes)}`;
  };
  return (entry) => {
    const arrow = { sent: "→", received: "←", opened: "·", skipped: "!", failed: "!", closed: "·" }[
      entry.kind
    ];
    const start = `${paint("dim", clockTime(entry.at))}  ${paint("bold", safe(entry.server))} ${arrow} `;
    return `${start}${safe(words(entry))}\n`;
  };
}

/** Both sides number their requests, so an answer belongs to a request in the other direction. */
function keyOf({ server, kind, message }: TraceEntry, id: string): string {
  const isRequest = isRecord(message) && "method" in message;
  const isOurs = kind === "failed" || (kind === "sent") === isRequest;
  return JSON.stringify([server, isOurs, id]);
}

function text(value: unknown): string {
  try {
    return value === undefined ? "" : JSON.stringify(value);
  } catch {
    return "(nested too deeply to be shown)";
  }
}

function cut(whole: string, bytes = Buffer.byteLength(whole)): string {
  return whole.length <= maxCharacters ? whole : `${whole.slice(0, maxCharacters)} … (${formatBytes(bytes)})`;
}
