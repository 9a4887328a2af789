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
  | ApprovalParked
  | ApprovalSettled
  | ApprovalRemembered
  | ApprovalRevoked
  | AuthChanged
  | IssuerChosen
  | UrlOpenFailed
  | ServerLog;

/** The name of an event, for `view.on`. */
export type EventType = PlugboardEvent["type"];
/** The event of one type. */
export type EventOf<T extends EventType> = Extract<PlugboardEvent, { type: T }>;
/** Receives events. */
export type Emit = (event: PlugboardEvent) => void;

/**
 * The states of a connection. In `waiting` there will be another attempt; in `degraded` it works, but a list cannot be
 * read.
 */
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

/** Why a server is disabled. */
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
  /** Set if the connection is one for the `headers` of a view: equal for equal ones, and otherwise meaningless. */
  headers?: string;
}

/** Another configuration is used, by `reload`, `add` or `remove`. */
export interface ConfigChanged extends At {
  type: "config-changed";
  added: string[];
  removed: string[];
  changed: string[];
  /** Set if the new configuration could not be used and the old one stays in use. */
  problem?: string;
}

/** A connection to a server is in another state. */
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

/** What a server offers may be different from now on. */
export interface CatalogChanged extends At, Whose {
  type: "catalog-changed";
  server: string;
  kind: "tools" | "resources" | "prompts";
}

/** A tool is called. */
export interface CallStart extends At, Whose {
  type: "call-start";
  call: string;
  server: string;
  tool: string;
  /**
   * What the call was given, if the hub was created with `events: { arguments: true }`: long values are cut, and what
   * looks secret is hidden.
   */
  arguments?: Record<string, unknown>;
}

/** A server tells how far a call is. */
export interface CallProgress extends At, Whose {
  type: "call-progress";
  call: string;
  server: string;
  tool: string;
  progress: number;
  total?: number;
  message?: string;
}

/** A call has its outcome. */
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

/** Every server that starts with the hub has started or failed. `skipped` are those that start when they are needed. */
export interface StartupComplete extends At {
  type: "startup-complete";
  ready: string[];
  failed: string[];
  skipped: string[];
}

/** What is asked: to approve a call, fill in a form or open a page, run a model, name folders, or log in. */
export type QuestionKind = "approve" | "elicit" | "sample" | "roots" | "log-in";

/** Somebody is asked, by a server or about a call; `hub.questions()` has the question, and `hub.answer` answers it. */
export interface QuestionAsked extends At, Whose {
  type: "question-asked";
  question: string;
  kind: QuestionKind;
  server: string;
  /** The call that the question belongs to. */
  call?: string;
  /** Of an approval: the id of the tool that would be called. */
  tool?: string;
}

/** A question is over. */
export interface QuestionAnswered extends At, Whose {
  type: "question-answered";
  question: string;
  kind: QuestionKind;
  server: string;
  call?: string;
  /** `waiting` if whoever called was sent away and may come back for the answer. */
  outcome: "accepted" | "declined" | "cancelled" | "waiting";
  /** Of an approval: what was answered. Absent if nobody answered. */
  decision?: "allow" | "deny" | "cancel";
  /** Of an approval: how long it is remembered. Absent if it holds for this call only. */
  remembered?: "session" | "always";
  /** Why it is not remembered for as long as the answer said. */
  notKept?: string;
}

/** Nobody was there to approve a call, so it waits until somebody answers (`approvals.queue`). */
export interface ApprovalParked extends At, Whose {
  type: "approval-parked";
  question: string;
  server: string;
  tool: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/** A call waits no more. Emitted by the process that noticed it; the one whose call waited emits `question-answered`. */
export interface ApprovalSettled extends At, Whose {
  type: "approval-settled";
  question: string;
  server: string;
  tool: string;
  /** `gone` if nobody wants the call any more. */
  state: "approved" | "denied" | "expired" | "gone";
}

/** A tool is allowed from now on without a question. */
export interface ApprovalRemembered extends At, Whose {
  type: "approval-remembered";
  /** Its id in `hub.approvals`. */
  approval: string;
  server: string;
  tool: string;
  remembered: "session" | "always";
}

/** What was remembered does not count any more. */
export interface ApprovalRevoked extends At, Whose {
  type: "approval-revoked";
  approval: string;
  server: string;
  tool: string;
  remembered: "session" | "always";
}

/** A login was made, renewed, ended or has expired. */
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

/** No browser could be opened for a login, so a person has to open this page. */
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
/** One of `logLevels`. */
export type LogLevel = (typeof logLevels)[number];

/**
 * What a server logged or wrote to stderr, without what is secret; at most fifty lines of stderr a second. `stdout` are
 * lines that are not messages: the first fifty of each run. `caller` is the only one that it can be about; without one it is
 * heard by no view of a caller.
 */
export interface ServerLog extends At, Whose {
  type: "server-log";
  server: string;
  /** As the server sent it; `info` if it sent another word, and for lines of stderr and stdout. */
  level: LogLevel;
  source: "stderr" | "stdout" | "notification" | "transport";
  message: string;
}
