import type { ErrorCode } from "../errors.ts";
import { isRecord } from "../lib/record.ts";
import { hidden, looksSecret } from "../lib/secret-words.ts";
import { Redaction } from "./redaction.ts";
import { traced } from "./transports/traced.ts";
import type { Traced } from "./transports/traced.ts";
import type { Transport, TransportKind } from "./transports/transport.ts";

/** One step of the exchange with a server, without what is secret. JSON-safe, but as large as the message. */
export interface TraceEntry {
  server: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** `skipped` is a line on stdout that is not a message, `failed` a request without an answer. */
  kind: Traced["kind"];
  transport?: TransportKind;
  message?: unknown;
  /** The size of the message, where it is known. */
  bytes?: number;
  text?: string;
  id?: string;
  error?: { code: ErrorCode; message: string };
}

export type OnTrace = (entry: Omit<TraceEntry, "at">) => void;

/** Observes a transport. Whatever goes wrong while somebody looks does not disturb the connection. */
export function withTrace(
  transport: Transport,
  server: string,
  redaction: Redaction,
  onTrace: OnTrace,
): Transport {
  const typed = new Redaction();
  const clean: Clean = {
    text: (text) => typed.text(redaction.text(text)),
    message: (message) => {
      const shown = hideNamed(message, (value) => typed.remember(value));
      return typed.value(redaction.value(shown));
    },
  };
  return traced(transport, (seen) => {
    try {
      onTrace({ server, ...entryOf(seen, clean) });
    } catch {
      // The observer's own problem.
    }
  });
}

interface Clean {
  text(text: string): string;
  message(message: unknown): unknown;
}

function entryOf(seen: Traced, clean: Clean): Omit<TraceEntry, "server" | "at"> {
  const { kind } = seen;
  if (seen.kind === "opened") return seen;
  if (seen.kind === "skipped") return { kind, text: clean.text(seen.text) };
  if ("message" in seen) {
    const message = clean.message(seen.message);
    return { kind, message, ...(seen.bytes !== undefined && { bytes: seen.bytes }) };
  }
  const { code, message } = seen.error;
  const error = { code, message: clean.text(message) };
  return seen.kind === "failed" ? { kind, id: seen.id, error } : { kind, error };
}

/**
 * Parameters of requests and filled-in forms may hold secrets that no configuration knows of; their names tell. What is
 * hidden is passed to `remember`, because servers repeat it.
 */
function hideNamed(message: unknown, remember: (value: string) => void): unknown {
  if (!isRecord(message)) return message;
  const { params, result } = message;
  const hide = (value: unknown) => withoutNamed(value, remember, 0);
  const filled = isRecord(result) && isRecord(result["content"]);
  return {
    ...message,
    ...(isRecord(params) && { params: hide(params) }),
    ...(filled && { result: { ...result, content: hide(result["content"]) } }),
  };
}

const maxDepth = 8;

function withoutNamed(value: unknown, remember: (value: string) => void, depth: number): unknown {
  if (depth > maxDepth || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withoutNamed(item, remember, depth + 1));
  const members = Object.entries(value).map(([name, member]) => {
    if (typeof member !== "string" || !looksSecret(name) || name === "progressToken")
      return [name, withoutNamed(member, remember, depth + 1)] as const;
    remember(member);
    return [name, hidden] as const;
  });
  return Object.fromEntries(members);
}
