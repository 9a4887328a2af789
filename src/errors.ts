import { shellWord } from "./lib/argv.ts";

/**
 * The one table of everything that can go wrong. The CLI's exit codes, the gateway's HTTP statuses and
 * docs/errors.md all come from here, so a code means the same at every door.
 */
export const errorTable = {
  "usage-invalid": {
    httpStatus: 400,
    exitCode: 2,
    rpcCode: -32_600,
    shownAs: "error",
    passes: false,
    executed: "no",
    meaning: "The command line or the arguments of a library call make no sense.",
    hint: "Run the command with --help to see what it takes.",
  },
  "config-invalid": {
    httpStatus: 422,
    exitCode: 3,
    rpcCode: -31_001,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "A configuration, or one server in it, has mistakes.",
    hint: "Run `plugboard config validate` to see every mistake with its file and line.",
  },
  "config-unreadable": {
    httpStatus: 500,
    exitCode: 3,
    rpcCode: -31_002,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "A configuration file cannot be read, parsed or safely written.",
    hint: "Check that the file exists, is a regular file you may read, and is valid JSON, TOML or YAML.",
  },
  "value-missing": {
    httpStatus: 424,
    exitCode: 3,
    rpcCode: -31_003,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "A server's configuration refers to a variable, secret or file that is not there.",
    hint: "Set the named variable or secret, or give it a default: ${NAME:-default}.",
  },
  "policy-denied": {
    httpStatus: 403,
    exitCode: 7,
    rpcCode: -31_004,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "The machine's managed policy does not allow this server.",
    hint: "Ask the administrator of this machine; `plugboard explain <server>` names the rule.",
  },
  untrusted: {
    httpStatus: 403,
    exitCode: 7,
    rpcCode: -31_005,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "The server comes from a project file whose content you have not trusted yet.",
    hint: "Look at it and allow it with `plugboard trust <server>`.",
  },
  "server-unknown": {
    httpStatus: 404,
    exitCode: 4,
    rpcCode: -32_602,
    shownAs: "error",
    passes: false,
    executed: "no",
    meaning: "No server of that name is configured.",
    hint: "`plugboard list` shows the configured servers.",
  },
  "server-exists": {
    httpStatus: 409,
    exitCode: 4,
    rpcCode: -31_006,
    shownAs: "error",
    passes: false,
    executed: "no",
    meaning: "A server of that name is already configured in that scope.",
    hint: "Remove it first, choose another name, or pass --force to replace it.",
  },
  "server-disabled": {
    httpStatus: 409,
    exitCode: 4,
    rpcCode: -31_007,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "The server is switched off.",
    hint: "`plugboard explain <server>` says why; `plugboard enable <server>` switches it on.",
  },
  "spawn-failed": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -31_008,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "The server's program could not be started.",
    hint: "Check the command and PATH; `plugboard doctor --connect <server>` says where it was looked for.",
  },
  "start-timeout": {
    httpStatus: 504,
    exitCode: 8,
    rpcCode: -31_009,
    shownAs: "result",
    passes: true,
    executed: "no",
    meaning: "The server did not complete its handshake in time.",
    hint: "Raise `startupTimeoutMs`, or run the command by hand to see what it waits for.",
  },
  "server-exited": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -31_010,
    shownAs: "result",
    passes: true,
    executed: "maybe",
    meaning: "The server's program ended; the error carries its exit code and the end of its stderr.",
    hint: "Read the stderr shown with the error, and run the command by hand.",
  },
  "not-responding": {
    httpStatus: 504,
    exitCode: 5,
    rpcCode: -31_011,
    shownAs: "result",
    passes: true,
    executed: "maybe",
    meaning: "The server is there but does not answer.",
    hint: "`plugboard status` shows its state; restart the server.",
  },
  "connection-lost": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -32_000,
    shownAs: "result",
    passes: true,
    executed: "maybe",
    meaning: "The connection broke before there was an answer.",
    hint: "Try again; if the call changes something, check first whether it already happened.",
  },
  "protocol-error": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -31_012,
    shownAs: "result",
    passes: false,
    executed: "maybe",
    meaning: "The server sent something that is not valid MCP.",
    hint: "Report it to the server's author, with the message shown.",
  },
  "unexpected-response": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -31_013,
    shownAs: "result",
    passes: false,
    executed: "maybe",
    meaning: "The URL answered, but not like an MCP server.",
    hint: "Check the URL: the error shows the status and type of what came back.",
  },
  "version-unsupported": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -31_014,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "Server and Plugboard share no protocol revision.",
    hint: "Set `protocol` to `auto`, or update the server.",
  },
  "auth-required": {
    httpStatus: 401,
    exitCode: 6,
    rpcCode: -31_015,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "The server wants a login.",
    hint: "Run `plugboard login <server>`.",
  },
  "registration-required": {
    httpStatus: 401,
    exitCode: 6,
    rpcCode: -31_016,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "The authorization server does not let clients register themselves.",
    hint: "Register a client there and set `oauth.clientId` (`plugboard add --client-id …`).",
  },
  "auth-failed": {
    httpStatus: 401,
    exitCode: 6,
    rpcCode: -31_017,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "A login or a credential was refused.",
    hint: "Check the configured token or header, or log in again with `plugboard login <server>`.",
  },
  "tool-unknown": {
    httpStatus: 404,
    exitCode: 4,
    rpcCode: -32_602,
    shownAs: "error",
    passes: false,
    executed: "no",
    meaning: "No server offers a tool of that name.",
    hint: "`plugboard tools` lists what there is.",
  },
  "tool-hidden": {
    httpStatus: 403,
    exitCode: 7,
    rpcCode: -32_602,
    shownAs: "error",
    passes: false,
    executed: "no",
    meaning: "The tool exists but a filter or a bundle hides it.",
    hint: "`plugboard explain <tool>` names the rule that hides it.",
  },
  "server-error": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -31_018,
    shownAs: "error",
    passes: false,
    executed: "yes",
    meaning: "The server answered the request with an error of its own.",
    hint: "Read the server's message; the arguments, or the server's own configuration, may be wrong.",
  },
  "arguments-invalid": {
    httpStatus: 422,
    exitCode: 2,
    rpcCode: -32_602,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "The arguments do not fit the tool's schema.",
    hint: "`plugboard tools <tool>` shows what it takes.",
  },
  "output-invalid": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -31_019,
    shownAs: "result",
    passes: false,
    executed: "yes",
    meaning: "The server's structured answer does not fit the schema it announced.",
    hint: "Report it to the server's author.",
  },
  "call-timeout": {
    httpStatus: 504,
    exitCode: 8,
    rpcCode: -32_001,
    shownAs: "result",
    passes: true,
    executed: "maybe",
    meaning: "The server did not answer the call in time; it was told to cancel.",
    hint: "Raise `callTimeoutMs` for this server if the tool is known to be slow.",
  },
  "call-cancelled": {
    httpStatus: 499,
    exitCode: 130,
    rpcCode: -31_020,
    shownAs: "error",
    passes: false,
    executed: "maybe",
    meaning: "The caller cancelled the call.",
    hint: "Nothing to do.",
  },
  "approval-denied": {
    httpStatus: 403,
    exitCode: 7,
    rpcCode: -31_021,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "A person or a rule refused the call, or nobody was there to ask.",
    hint: "Set `approval` for this server or tool, or run the command in a terminal.",
  },
  "question-declined": {
    httpStatus: 403,
    exitCode: 7,
    rpcCode: -31_022,
    shownAs: "result",
    passes: false,
    executed: "maybe",
    meaning: "The server asked a question and nobody answered it.",
    hint: "Run the command in a terminal, or set `elicitation`.",
  },
  "output-too-large": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -31_023,
    shownAs: "result",
    passes: false,
    executed: "yes",
    meaning: "An answer is larger than the configured cap.",
    hint: "Ask for less, or raise `maxLineBytes`.",
  },
  "rate-limited": {
    httpStatus: 429,
    exitCode: 8,
    rpcCode: -31_024,
    shownAs: "result",
    passes: true,
    executed: "no",
    meaning: "Too many requests.",
    hint: "Wait for the time given and try again.",
  },
  "store-unavailable": {
    httpStatus: 503,
    exitCode: 5,
    rpcCode: -31_025,
    shownAs: "result",
    passes: true,
    executed: "no",
    meaning: "Plugboard's own state cannot be read or written.",
    hint: "Check the state folder shown by `plugboard config path`.",
  },
  internal: {
    httpStatus: 500,
    exitCode: 1,
    rpcCode: -32_603,
    shownAs: "error",
    passes: false,
    executed: "maybe",
    meaning: "A mistake in Plugboard itself.",
    hint: "Please report it, with the command and the message.",
  },
} as const satisfies Record<string, ErrorInfo>;

/** Whether the server acted on the request: certainly not, perhaps, or certainly. */
export type Executed = "no" | "maybe" | "yes";

interface ErrorInfo {
  httpStatus: number;
  exitCode: number;
  /** The code of a JSON-RPC error that stands for it. */
  rpcCode: number;
  /** How a tool call shows it to a client: as a result with `isError`, which a model can act on, or as an error. */
  shownAs: "result" | "error";
  /** Whether the cause may pass by itself, so that the same request can succeed later. */
  passes: boolean;
  /** What holds where the place that threw it does not know better. */
  executed: Executed;
  meaning: string;
  hint: string;
}

export type ErrorCode = keyof typeof errorTable;

/** What exactly it was, where a code has several cases that programs tell apart. */
export type ErrorReason =
  // Connections
  | "session-lost"
  // Logins
  | "identity-provider"
  | "insufficient-scope"
  | "issuer"
  | "issuer-changed"
  | "metadata"
  | "no-login"
  | "other-account"
  | "pkce"
  | "redirect"
  | "refused"
  | "resource"
  | "resource-metadata"
  | "token"
  | "too-long"
  | "event-stream"
  | "unsafe-address"
  // The vault and the store
  | "busy"
  | "closed"
  | "corrupt"
  | "failed"
  | "foreign"
  | "full"
  | "key-missing"
  | "locked"
  | "newer"
  | "unsafe"
  | "unwritable"
  | "wrong-key";

/** Facts for programs, JSON-safe and never a secret. Those that decide something have a name here. */
export interface ErrorData {
  reason?: ErrorReason | undefined;
  /** The HTTP status of a refusal. */
  status?: number | undefined;
  /** The server's own JSON-RPC error, or its code. */
  rpcError?: { code: number; message: string; data?: unknown } | undefined;
  rpcCode?: number | undefined;
  /** The error code of an authorization server. */
  error?: string | undefined;
  [key: string]: unknown;
}

export interface ErrorDetails {
  server?: string | undefined;
  tool?: string | undefined;
  data?: ErrorData | undefined;
  cause?: unknown;
  /** The next step for a person, where it is more specific than the table's. */
  hint?: string | undefined;
  /** Whether the server acted on the request, where that is known better than the table does. */
  executed?: Executed | undefined;
  /** True when repeating the request does no harm even if it was executed: a read-only or idempotent tool. */
  repeatable?: boolean | undefined;
  /** How long the server, or the next attempt, asks us to wait. */
  retryAfterMs?: number | undefined;
  /** The rights that the login lacks; present, perhaps empty, only when that is the reason. */
  missingScopes?: readonly string[] | undefined;
}

export class PlugboardError extends Error {
  override readonly name = "PlugboardError";
  readonly code: ErrorCode;
  readonly server: string | undefined;
  readonly tool: string | undefined;
  readonly data: ErrorData | undefined;
  readonly hint: string;
  readonly executed: Executed;
  readonly repeatable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly missingScopes: readonly string[] | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.server = details.server;
    this.tool = details.tool;
    this.data = details.data;
    this.hint = details.hint ?? hintFor(code, details);
    this.executed = details.executed ?? errorTable[code].executed;
    this.repeatable = details.repeatable ?? false;
    this.retryAfterMs = details.retryAfterMs;
    this.missingScopes = details.missingScopes;
  }

  /** The same with some details changed: the cause stays the cause. */
  with(details: Omit<ErrorDetails, "cause"> & { message?: string }): PlugboardError {
    const { message = this.message, ...changed } = details;
    return new PlugboardError(this.code, message, Object.assign({}, this, changed, { cause: this.cause }));
  }

  get reason(): ErrorReason | undefined {
    return this.data?.reason;
  }

  /** True when the same request may succeed later and sending it again does no harm. */
  get retryable(): boolean {
    const { passes } = errorTable[this.code];
    return passes && (this.executed === "no" || (this.executed === "maybe" && this.repeatable));
  }

  get rpcCode(): number {
    return errorTable[this.code].rpcCode;
  }

  get exitCode(): number {
    return errorTable[this.code].exitCode;
  }

  get httpStatus(): number {
    return errorTable[this.code].httpStatus;
  }

  toJSON(): Record<string, unknown> {
    const { code, message, server, tool, data, hint, executed, retryable, retryAfterMs, missingScopes } =
      this;
    return { code, message, server, tool, data, hint, executed, retryable, retryAfterMs, missingScopes };
  }
}

/** The table's hint about this server or tool; without one it stays a pattern. */
export function hintFor(code: ErrorCode, { server, tool }: Pick<ErrorDetails, "server" | "tool">): string {
  const fill = (pattern: string, mark: string, name: string | undefined) =>
    name === undefined ? pattern : pattern.replaceAll(mark, () => shellWord(name));
  return fill(fill(errorTable[code].hint, "<server>", server), "<tool>", tool);
}

/** True for errors of any loaded copy of this package, so it survives duplicated installs. */
export function isPlugboardError(value: unknown, code?: ErrorCode): value is PlugboardError {
  return (
    value instanceof Error &&
    value.name === "PlugboardError" &&
    "code" in value &&
    (code === undefined || value.code === code)
  );
}
