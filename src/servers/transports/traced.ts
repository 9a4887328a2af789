import type { PlugboardError } from "../../errors.ts";
import type { RpcMessage } from "../rpc/messages.ts";
import type { Transport, TransportEvents, TransportKind } from "./transport.ts";

/** Something that passed between Plugboard and a server. */
export type Traced =
  /** The transport is ready: the program runs, or the address is known. */
  | { kind: "opened"; transport: TransportKind }
  | { kind: "sent" | "received"; message: unknown; bytes?: number | undefined }
  /** A line on stdout that is not a message. */
  | { kind: "skipped"; text: string }
  /** A request got no answer. */
  | { kind: "failed"; id: string; error: PlugboardError }
  | { kind: "closed"; error: PlugboardError };

/** A transport whose messages are observed both ways. `watch` must not throw. */
export function traced(inner: Transport, watch: (traced: Traced) => void): Transport {
  return {
    kind: inner.kind,
    get facts() {
      return inner.facts;
    },
    get sessionId() {
      return inner.sessionId;
    },
    get kept() {
      return inner.kept;
    },
    start: async (events) => {
      await inner.start(watchedEvents(events, watch));
      watch({ kind: "opened", transport: inner.kind });
    },
    send: (message, text, headers) => {
      watch({ kind: "sent", message, bytes: Buffer.byteLength(text) });
      return inner.send(message, text, headers);
    },
    cancel: (id, reason) => {
      if (reason !== undefined) watch({ kind: "sent", message: cancellation(id, reason) });
      inner.cancel(id, reason);
    },
    setVersion: (version) => inner.setVersion?.(version),
    close: (session) => inner.close(session),
  };
}

/** What the transports send by themselves; modern HTTP servers see the end of the request instead. */
function cancellation(requestId: string, reason: string): RpcMessage {
  return { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, reason } };
}

function watchedEvents(events: TransportEvents, watch: (traced: Traced) => void): TransportEvents {
  return {
    get wantsBytes() {
      return events.wantsBytes;
    },
    takes: (bytes) => {
      const isTaken = events.takes(bytes);
      if (isTaken) watch({ kind: "received", message: parsed(bytes), bytes: bytes.length });
      return isTaken;
    },
    message: (message, during, bytes) => {
      watch({ kind: "received", message, bytes });
      events.message(message, during, bytes);
    },
    skipped: (text) => {
      watch({ kind: "skipped", text });
      events.skipped?.(text);
    },
    failed: (id, error) => {
      watch({ kind: "failed", id, error });
      events.failed(id, error);
    },
    missed: () => events.missed(),
    doubted: () => events.doubted(),
    closed: (error) => {
      watch({ kind: "closed", error });
      events.closed(error);
    },
  };
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}
