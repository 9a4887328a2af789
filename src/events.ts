import type { ErrorCode } from "./errors.ts";

/** Everything the engine tells the outside, JSON-safe and free of secrets. The core prints nothing itself. */
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

/** The states of DESIGN §5; `disabled` always says why. */
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

/** An error as it travels in events, status and JSON output. */
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

export interface ConfigChanged extends At {
  type: "config-changed";
  added: string[];
  removed: string[];
  changed: string[];
  /** Set when a new configuration could not be used and the old one stays in force. */
  problem?: string;
}

export interface ConnectionChanged extends At {
  type: "connection-changed";
  server: string;
  from: ConnectionStateName;
  to: ConnectionStateName;
  disabledReason?: DisabledReason;
  /** For `waiting`: when the next attempt is due, milliseconds since the epoch. */
  retryAt?: number;
  /** For `connecting`: what the launcher says it is doing, for instance installing a package. */
  detail?: string;
  error?: ErrorSummary;
}

export interface CatalogChanged extends At {
  type: "catalog-changed";
  server: string;
  kind: "tools" | "resources" | "prompts";
}

export interface CallStart extends At {
  type: "call-start";
  call: string;
  server: string;
  tool: string;
  caller?: string;
}

export interface CallProgress extends At {
  type: "call-progress";
  call: string;
  server: string;
  tool: string;
  progress: number;
  total?: number;
  message?: string;
}

export interface CallEnd extends At {
  type: "call-end";
  call: string;
  server: string;
  tool: string;
  caller?: string;
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

export interface QuestionAsked extends At {
  type: "question-asked";
  question: string;
  kind: "approve" | "elicit" | "sample" | "roots" | "open-url";
  server: string;
}

export interface QuestionAnswered extends At {
  type: "question-answered";
  question: string;
  server: string;
  outcome: "accepted" | "declined" | "cancelled";
}

export interface AuthChanged extends At {
  type: "auth-changed";
  server: string;
  change: "login" | "logout" | "refresh" | "expired";
}

export interface UrlOpenFailed extends At {
  type: "url-open-failed";
  server: string;
  url: string;
}

export interface ServerLog extends At {
  type: "server-log";
  server: string;
  level: "debug" | "info" | "warning" | "error";
  source: "stderr" | "notification" | "transport";
  message: string;
}
