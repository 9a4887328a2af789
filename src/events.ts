import type { ErrorCode } from "./errors.ts";

/** All events of the engine. They are JSON-safe and contain no secrets. The engine itself prints nothing. */
export type PlugboardEvent =
  | ConfigChanged
  | ConnectionChanged
  | CatalogChanged
  | CallStart
  | CallProgress
  | CallEnd
  | StartupComplete
  | QuestionAsked
  | QuestionAnswered
  | AuthChanged
  | IssuerChosen
  | UrlOpenFailed
  | ServerLog;

export type EventType = PlugboardEvent["type"];
export type EventOf<T extends EventType> = Extract<PlugboardEvent, { type: T }>;
export type Emit = (event: PlugboardEvent) => void;

export type ConnectionStateName =
  | "disabled"
  | "ready"
  | "connecting"
  | "connected"
  | "degraded"
  | "waiting"
  | "failed"
  | "needs-auth"
  | "needs-registration"
  | "closed";

export type DisabledReason = "off" | "policy" | "untrusted" | "invalid" | "missing-value" | "loop";

/** An error in events, status and JSON output. */
export interface ErrorSummary {
  code: ErrorCode;
  message: string;
  hint?: string | undefined;
  data?: Record<string, unknown> | undefined;
}

interface At {
  /** Milliseconds since the epoch. */
  at: number;
}

/** Whom a connection, or an action on it, belongs to. */
interface Whose {
  /** Absent if all callers share the connection. */
  caller?: string;
  project?: string;
  /** The login's name; absent for servers that run on this machine. */
  account?: string;
}

export interface ConfigChanged extends At {
  type: "config-changed";
  added: string[];
  removed: string[];
  changed: string[];
  /** Set if the new configuration could not be used and the old one stays in use. */
  problem?: string;
}

export interface ConnectionChanged extends At, Whose {
  type: "connection-changed";
  server: string;
  from: ConnectionStateName;
  to: ConnectionStateName;
  disabledReason?: DisabledReason;
  /** For `degraded`: the lists that could not be read, such as `prompts`. */
  lists?: string[];
  /** For `waiting`: the time of the next attempt, in milliseconds since the epoch. */
  retryAt?: number;
  /** For `connecting`: what the launcher is doing, for example installing a package. */
  detail?: string;
  error?: ErrorSummary;
}

export interface CatalogChanged extends At, Whose {
  type: "catalog-changed";
  server: string;
  kind: "tools" | "resources" | "prompts";
}

export interface CallStart extends At, Whose {
  type: "call-start";
  call: string;
  server: string;
  tool: string;
}

export interface CallProgress extends At, Whose {
  type: "call-progress";
  call: string;
  server: string;
  tool: string;
  progress: number;
  total?: number;
  message?: string;
}

export interface CallEnd extends At, Whose {
  type: "call-end";
  call: string;
  server: string;
  tool: string;
  durationMs: number;
  outcome: "ok" | "tool-error" | "failed" | "cancelled";
  requestBytes?: number;
  resultBytes?: number;
  /** Set if the result was larger than `warnTokens`: its estimated tokens, and whether it was cut. */
  output?: { tokens: number; cut: boolean };
  error?: ErrorSummary;
}

export interface StartupComplete extends At {
  type: "startup-complete";
  ready: string[];
  failed: string[];
  skipped: string[];
}

export type QuestionKind = "approve" | "elicit" | "sample" | "roots" | "log-in";

export interface QuestionAsked extends At, Whose {
  type: "question-asked";
  question: string;
  kind: QuestionKind;
  server: string;
  /** The call that the question belongs to. */
  call?: string;
}

export interface QuestionAnswered extends At, Whose {
  type: "question-answered";
  question: string;
  kind: QuestionKind;
  server: string;
  call?: string;
  outcome: "accepted" | "declined" | "cancelled";
  /** Of an approval: what was answered. Absent if nobody answered. */
  decision?: "allow" | "deny" | "cancel";
  /** Of an approval: how long it is remembered. Absent if it holds for this call only. */
  remembered?: "session" | "always";
  /** Why it is not remembered for as long as the answer said. */
  notKept?: string;
}

export interface AuthChanged extends At, Whose {
  type: "auth-changed";
  server: string;
  change: "login" | "logout" | "refresh" | "expired";
}

/**
 * Emitted before a configured secret is sent to an authorization server that only the server named. From then on it is
 * sent to no other one.
 */
export interface IssuerChosen extends At, Whose {
  type: "issuer-chosen";
  server: string;
  issuer: string;
  /** The origins of its endpoints that receive it. */
  endpoints: string[];
  /** What is sent, in words, such as `client secret`. */
  sends: string[];
}

/** The events of a login. */
export type AuthEvent = AuthChanged | IssuerChosen;

export interface UrlOpenFailed extends At, Whose {
  type: "url-open-failed";
  server: string;
  url: string;
}

/** The levels of the protocol, from the least to the most severe. */
export const logLevels = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;
export type LogLevel = (typeof logLevels)[number];

/** What a server logged or wrote to stderr, without what is secret; at most fifty lines of stderr a second. */
export interface ServerLog extends At, Whose {
  type: "server-log";
  server: string;
  /** As the server sent it; `info` if it sent another word, and for lines of stderr. */
  level: LogLevel;
  source: "stderr" | "notification" | "transport";
  message: string;
}
