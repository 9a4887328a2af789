import type { ConnectionStateName, DisabledReason, ErrorSummary } from "../events.ts";
import type { Account } from "../auth/oauth/account.ts";
import type { ServerEntry } from "../config/model.ts";
import type { Connection } from "./connection.ts";
import { summarise } from "./connection-errors.ts";
import type { SessionFacts } from "./session.ts";

/** Everything there is to say about a server right now. JSON-safe, no secrets. */
export interface ServerReport extends Partial<SessionFacts> {
  name: string;
  state: ConnectionStateName;
  disabledReason?: DisabledReason;
  /** Why it is not usable, or was not the last time, and what a person can do about it. */
  error?: ErrorSummary;
  message?: string;
  hint?: string;
  /** While connecting: what its launcher is doing. */
  detail?: string;
  /** Milliseconds since the epoch. */
  since?: number;
  retryAt?: number;
  era?: "modern" | "legacy";
  /** What the era was judged by; `silence` cost a deadline. */
  eraBasis?: "answer" | "exit" | "silence";
  /** The protocol revision in use. */
  protocolVersion?: string;
  serverInfo?: Record<string, unknown>;
  capabilities?: Record<string, unknown>;
  instructions?: string;
  /** How long the last start took. */
  startMs?: number;
  counts: {
    starts: number;
    failures: number;
    requests: number;
    inFlight: number;
    lateAnswers: number;
    ignoredMessages: number;
  };
  /** The login in use. */
  account?: Account;
  origin: ServerEntry["origin"];
}

export function reportServer(entry: ServerEntry, connection: Connection): ServerReport {
  const { state, session, counts, startMs } = connection;
  const greeting = session?.greeting;
  return {
    name: entry.name,
    state: state.name,
    ...(state.name === "disabled" && {
      disabledReason: state.reason,
      message: state.message,
      hint: state.hint,
    }),
    ...("error" in state &&
      state.error && {
        error: summarise(state.error),
        message: state.error.message,
        hint: state.error.hint,
      }),
    ...("detail" in state && state.detail !== undefined && { detail: state.detail }),
    ...("since" in state && { since: state.since }),
    ...("retryAt" in state && { retryAt: state.retryAt }),
    ...(greeting && {
      era: greeting.era,
      eraBasis: greeting.basis,
      protocolVersion: greeting.version,
      capabilities: greeting.capabilities,
    }),
    ...(greeting?.serverInfo && { serverInfo: greeting.serverInfo }),
    ...(greeting?.instructions !== undefined && { instructions: greeting.instructions }),
    ...(startMs !== undefined && { startMs: Math.round(startMs) }),
    ...session?.facts,
    counts: {
      ...counts,
      inFlight: session?.inFlight ?? 0,
      lateAnswers: session?.lane.counts.late ?? 0,
      ignoredMessages: session?.peer.ignored ?? 0,
    },
    origin: entry.origin,
  };
}
