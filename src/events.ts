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
  | UrlOpenFailed
  | ServerLog;

export type EventType = PlugboardEvent["type"];
export type EventOf<T extends EventType> = Extract<PlugboardEvent, { type: T }>;
export type Emit = (event: PlugboardEvent) => void;

export type ConnectionStateName =
  | "disabled"
  | "idle"
  | "connecting"
  | "connected"
  | "degraded"
  | "waiting"
  | "failed"
  | "needs-auth"
  | "needs-registration"
  | "closed";

export type DisabledReason = "config" | "policy" | "untrusted" | "invalid" | "missing-value";

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
}

export interface AuthChanged extends At, Whose {
  type: "auth-changed";
  server: string;
  change: "login" | "logout" | "refresh" | "expired";
}

export interface UrlOpenFailed extends At, Whose {
  type: "url-open-failed";
  server: string;
  url: string;
}

export interface ServerLog extends At, Whose {
  type: "server-log";
  server: string;
  level: "debug" | "info" | "warning" | "error";
  source: "stderr" | "notification" | "transport";
  message: string;
}
