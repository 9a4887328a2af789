import type { ConnectionStateName, DisabledReason, ErrorSummary } from "../events.ts";
import type { Account } from "../auth/oauth/account.ts";
import type { ServerEntry } from "../config/model.ts";
import type { Connection } from "./connection.ts";
import { summarise } from "./connection-errors.ts";
import { describeKey } from "./connection-key.ts";
import type { ConnectionKey } from "./connection-key.ts";
import type { ConnectionState } from "./state.ts";
import type { SessionFacts } from "./session.ts";

/** The current status of a server. JSON-safe, without secrets. */
export interface ServerReport extends Partial<SessionFacts> {
  name: string;
  /** Who the connection belongs to, if it is not shared. */
  caller?: string;
  project?: string;
  state: ConnectionStateName;
  disabledReason?: DisabledReason;
  /** Why the server is unusable or the last attempt failed, and what to do about it. */
  error?: ErrorSummary;
  message?: string;
  hint?: string;
  /** For `degraded`: the lists that could not be read, such as `prompts`, and why. */
  failedLists?: Record<string, ErrorSummary>;
  /** What the launcher is doing, while connecting. */
  detail?: string;
  /** Milliseconds since the epoch. */
  since?: number;
  retryAt?: number;
  era?: "modern" | "legacy";
  /** How the era was detected; `silence` means that the probe timed out. */
  eraBasis?: "answer" | "exit" | "silence";
  /** The protocol revision in use. */
  protocolVersion?: string;
  serverInfo?: Record<string, unknown>;
  capabilities?: Record<string, unknown>;
  instructions?: string;
  /** Why a lock file keeps its instructions back. */
  instructionsWithheld?: string;
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

const unused = { session: undefined, startMs: undefined, counts: { starts: 0, failures: 0, requests: 0 } };

/** Without a connection, reports the state it would start in. */
export function reportServer(
  entry: ServerEntry,
  key: ConnectionKey,
  connection: Connection | undefined,
  initial: ConnectionState,
): ServerReport {
  const { state, session, counts, startMs } = connection ?? { ...unused, state: initial };
  const greeting = session?.greeting;
  return {
    name: entry.name,
    ...describeReportKey(key),
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
    ...(state.name === "degraded" && {
      failedLists: Object.fromEntries(
        Object.entries(state.lists).map(([list, error]) => [list, summarise(error)]),
      ),
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
      lateAnswers: session?.rpc.requests.counts.late ?? 0,
      ignoredMessages: session?.rpc.inbound.ignored ?? 0,
    },
    origin: entry.origin,
  };
}

/** Leaves out the account, which is reported as the login. */
function describeReportKey(key: ConnectionKey): { caller?: string; project?: string } {
  const { account: _, ...rest } = describeKey(key);
  return rest;
}
