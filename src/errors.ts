import { shellWord } from "./lib/argv.ts";

/**
 * All error codes. The CLI's exit codes, the gateway's HTTP statuses and docs/errors.md come from this table, so a
 * code means the same everywhere.
 */
export const errorTable = {
  "usage-invalid": {
    httpStatus: 400,
    exitCode: 2,
    rpcCode: -32_600,
    shownAs: "error",
    passes: false,
    executed: "no",
    meaning: "The command line, or the arguments of a library call, are invalid.",
    hint: "Run the command with --help to see its options.",
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
    meaning: "A server's configuration refers to a variable, secret or file that does not exist.",
    hint: "Set it: export the variable, or write ${secret:NAME} and run `plugboard secret set NAME`. A default is written ${NAME:-default}.",
  },
  "policy-denied": {
    httpStatus: 403,
    exitCode: 7,
    rpcCode: -31_004,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "The machine's managed policy does not allow this server.",
    hint: "Ask the administrator of this machine. `plugboard explain <server>` shows the rule.",
  },
  untrusted: {
    httpStatus: 403,
    exitCode: 7,
    rpcCode: -31_005,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning:
      "The server comes from a project file, and you have not trusted its content, or that of a script it runs, yet.",
    hint: "Review and allow it with `plugboard trust <server>`.",
  },
  "server-unknown": {
    httpStatus: 404,
    exitCode: 4,
    rpcCode: -32_602,
    shownAs: "error",
    passes: false,
    executed: "no",
    meaning: "No server with that name is configured.",
    hint: "Run `plugboard list` to see the configured servers.",
  },
  "server-exists": {
    httpStatus: 409,
    exitCode: 4,
    rpcCode: -31_006,
    shownAs: "error",
    passes: false,
    executed: "no",
    meaning: "That scope already has a server with that name.",
    hint: "Remove it first, choose another name, or pass --force to replace it.",
  },
  "server-disabled": {
    httpStatus: 409,
    exitCode: 4,
    rpcCode: -31_007,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "The server is disabled.",
    hint: "Run `plugboard explain <server>` to see why, or `plugboard enable <server>` to enable it.",
  },
  "spawn-failed": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -31_008,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "The server's program could not be started.",
    hint: "Check the command and PATH. `plugboard doctor --connect <server>` shows where Plugboard looked.",
  },
  "start-timeout": {
    httpStatus: 504,
    exitCode: 8,
    rpcCode: -31_009,
    shownAs: "result",
    passes: true,
    executed: "no",
    meaning: "The server did not complete its handshake in time.",
    hint: "Increase `startupTimeoutMs`, or run the command yourself to see what it is waiting for.",
  },
  "server-exited": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -31_010,
    shownAs: "result",
    passes: true,
    executed: "maybe",
    meaning: "The server's program exited. The error has its exit code and the end of its stderr.",
    hint: "Run `plugboard logs <server>` to see its output.",
  },
  "not-responding": {
    httpStatus: 504,
    exitCode: 5,
    rpcCode: -31_011,
    shownAs: "result",
    passes: true,
    executed: "maybe",
    meaning: "The server is running but does not respond.",
    hint: "Run `plugboard status` to see its state, or restart the server.",
  },
  "connection-lost": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -32_000,
    shownAs: "result",
    passes: true,
    executed: "maybe",
    meaning: "The connection broke before the response arrived.",
    hint: "Try again. If the call makes changes, first check whether they were already made.",
  },
  "protocol-error": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -31_012,
    shownAs: "result",
    passes: false,
    executed: "maybe",
    meaning: "The server sent something that is not valid MCP.",
    hint: "Report it to the server's author, including the message.",
  },
  "unexpected-response": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -31_013,
    shownAs: "result",
    passes: false,
    executed: "maybe",
    meaning: "The URL returned something that is not an MCP response.",
    hint: "Check the URL. The error shows the status and content type of the response.",
  },
  "version-unsupported": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -31_014,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "The server and Plugboard have no protocol revision in common.",
    hint: "Set `protocol` to `auto`, or update the server.",
  },
  "auth-required": {
    httpStatus: 401,
    exitCode: 6,
    rpcCode: -31_015,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "The server requires a login.",
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
    meaning: "A login or credential was rejected.",
    hint: "Check the configured token or header, or log in again with `plugboard login <server>`.",
  },
  "tool-unknown": {
    httpStatus: 404,
    exitCode: 4,
    rpcCode: -32_602,
    shownAs: "error",
    passes: false,
    executed: "no",
    meaning: "No server offers a tool with that name.",
    hint: "Run `plugboard tools` to see the available tools.",
  },
  "tool-hidden": {
    httpStatus: 403,
    exitCode: 7,
    rpcCode: -32_602,
    shownAs: "error",
    passes: false,
    executed: "no",
    meaning: "The tool exists, but a filter or bundle hides it.",
    hint: "Run `plugboard explain <tool>` to see which rule hides it.",
  },
  "lock-unreadable": {
    httpStatus: 500,
    exitCode: 3,
    rpcCode: -31_030,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "A lock file is missing, cannot be read or written, or has another format.",
    hint: "Restore plugboard.lock from version control, or delete it and write it again with `plugboard lock`.",
  },
  "lock-mismatch": {
    httpStatus: 403,
    exitCode: 7,
    rpcCode: -31_031,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "What a server offers is not what the lock file pins.",
    hint: "Run `plugboard lock <server>` to see what changed, and approve it if it is right.",
  },
  "server-error": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -31_018,
    shownAs: "error",
    passes: false,
    executed: "yes",
    meaning: "The server returned an error.",
    hint: "Read the server's message. The arguments or the server's own configuration may be wrong.",
  },
  "arguments-invalid": {
    httpStatus: 422,
    exitCode: 2,
    rpcCode: -32_602,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "The arguments do not match the tool's schema.",
    hint: "Run `plugboard tools <tool>` to see its parameters.",
  },
  "output-invalid": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -31_019,
    shownAs: "result",
    passes: false,
    executed: "yes",
    meaning: "The server's structured result does not match its own output schema.",
    hint: "Report it to the server's author.",
  },
  "call-timeout": {
    httpStatus: 504,
    exitCode: 8,
    rpcCode: -32_001,
    shownAs: "result",
    passes: true,
    executed: "maybe",
    meaning: "The server did not respond in time. Plugboard cancelled the call.",
    hint: "If the tool is known to be slow, increase `callTimeoutMs` for this server.",
  },
  "call-cancelled": {
    httpStatus: 499,
    exitCode: 130,
    rpcCode: -31_020,
    shownAs: "error",
    passes: false,
    executed: "maybe",
    meaning:
      "The caller cancelled the call, or the person who was asked about it ended the whole turn (`endsTurn`).",
    hint: "Nothing to do.",
  },
  "approval-denied": {
    httpStatus: 403,
    exitCode: 7,
    rpcCode: -31_021,
    shownAs: "result",
    passes: false,
    executed: "no",
    meaning: "A person or a rule denied the call, or there was nobody to ask.",
    hint: "Set `approval` for this server or tool, or run the command in a terminal.",
  },
  "approval-pending": {
    httpStatus: 409,
    exitCode: 8,
    rpcCode: -31_026,
    shownAs: "result",
    passes: true,
    executed: "no",
    meaning: "The call waits until somebody approves it.",
    hint: "Answer with `plugboard approvals`, then make the same call again.",
  },
  "question-over": {
    httpStatus: 410,
    exitCode: 4,
    rpcCode: -31_027,
    shownAs: "error",
    passes: false,
    executed: "no",
    meaning:
      "The question does not wait for an answer: it is unknown, expired, answered already, or its client is gone.",
    hint: "Nothing was run. `plugboard approvals` lists the questions that wait.",
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
    meaning: "A response is larger than the configured limit.",
    hint: "Request less data, or increase `maxLineBytes`.",
  },
  "rate-limited": {
    httpStatus: 429,
    exitCode: 8,
    rpcCode: -31_024,
    shownAs: "result",
    passes: true,
    executed: "no",
    meaning: "Too many requests.",
    hint: "Wait for the given time and try again.",
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
  "sdk-unsupported": {
    httpStatus: 500,
    exitCode: 2,
    rpcCode: -31_040,
    shownAs: "error",
    passes: false,
    executed: "no",
    meaning: "The SDK that an adapter is made for is not installed, or is another major version.",
    hint: "Install the version that the message names.",
  },
  "telemetry-unavailable": {
    httpStatus: 424,
    exitCode: 3,
    rpcCode: -31_041,
    shownAs: "error",
    passes: false,
    executed: "no",
    meaning: "Telemetry was asked for, but nothing can be recorded.",
    hint: "Install `@opentelemetry/api` and register a provider before Plugboard starts. See docs/telemetry.md.",
  },
  "model-missing": {
    httpStatus: 424,
    exitCode: 3,
    rpcCode: -31_050,
    shownAs: "error",
    passes: false,
    executed: "no",
    meaning: "`plugboard chat` does not know which model to talk to.",
    hint: "Set `chat.model` in your configuration, PLUGBOARD_CHAT_MODEL, or --model.",
  },
  "model-refused": {
    httpStatus: 403,
    exitCode: 6,
    rpcCode: -31_051,
    shownAs: "error",
    passes: false,
    executed: "no",
    meaning: "The model's endpoint refused a request: the key, the model's name or the request itself.",
    hint: "Check `chat.key`, `chat.model` and `chat.url`.",
  },
  "model-failed": {
    httpStatus: 502,
    exitCode: 5,
    rpcCode: -31_052,
    shownAs: "error",
    passes: true,
    executed: "maybe",
    meaning:
      "The model's endpoint could not be reached, failed, was silent for too long, or broke off in the middle.",
    hint: "The conversation is kept. Say it again, or say `go on`.",
  },
  "turn-too-long": {
    httpStatus: 409,
    exitCode: 8,
    rpcCode: -31_053,
    shownAs: "error",
    passes: false,
    executed: "yes",
    meaning: "The model called tools in more steps than `chat.maxSteps` allows in one turn.",
    hint: "Say `go on` to let it continue, or increase `chat.maxSteps`.",
  },
  internal: {
    httpStatus: 500,
    exitCode: 1,
    rpcCode: -32_603,
    shownAs: "error",
    passes: false,
    executed: "maybe",
    meaning: "A bug in Plugboard.",
    hint: "Please report it, including the command and the message.",
  },
} as const satisfies Record<string, ErrorInfo>;

/** Whether the server executed the request. */
export type Executed = "no" | "maybe" | "yes";

interface ErrorInfo {
  httpStatus: number;
  exitCode: number;
  /** The code of the corresponding JSON-RPC error. */
  rpcCode: number;
  /** How a tool call reports it to a client: as a result with `isError`, which a model can act on, or as an error. */
  shownAs: "result" | "error";
  /** True if the cause may go away, so the same request can succeed later. */
  passes: boolean;
  /** The default if the code that throws the error does not know. */
  executed: Executed;
  meaning: string;
  hint: string;
}

/** The codes of docs/errors.md. */
export type ErrorCode = keyof typeof errorTable;

/** The exact cause, for codes with several cases that programs need to distinguish. */
export type ErrorReason =
  // Connections
  | "session-lost"
  | "era-changed"
  | "target-changed"
  // Approval
  | "turn-cancelled"
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
  | "unsupported"
  | "unwritable"
  | "wrong-key";

/** Details for programs: JSON-safe and free of secrets. Fields that code depends on are declared here. */
export interface ErrorData {
  reason?: ErrorReason | undefined;
  /** The HTTP status of the response. */
  status?: number | undefined;
  /** The server's JSON-RPC error, or only its code. */
  rpcError?: { code: number; message: string; data?: unknown } | undefined;
  rpcCode?: number | undefined;
  /** The authorization server's error code. */
  error?: string | undefined;
  [key: string]: unknown;
}

/** What an error carries besides its code and its message. */
export interface ErrorDetails {
  server?: string | undefined;
  tool?: string | undefined;
  data?: ErrorData | undefined;
  cause?: unknown;
  /** What a person does next, if more specific than the hint in the table. Models never read it. */
  hint?: string | undefined;
  /** What a model can do with its tools. Names no settings and no commands. Without a `hint`, people read it as well. */
  advice?: string | undefined;
  /** Whether the server executed the request, if known better than in the table. */
  executed?: Executed | undefined;
  /** True if repeating an executed request is harmless: the tool is read-only or idempotent. */
  repeatable?: boolean | undefined;
  /** How long to wait before the next attempt. */
  retryAfterMs?: number | undefined;
  /** The scopes that the login lacks. Set, possibly to an empty list, only if that is the cause. */
  missingScopes?: readonly string[] | undefined;
}

/** Every error that Plugboard throws. `code` says what happened, for programs; `message` and `hint` are for people. */
export class PlugboardError extends Error {
  override readonly name = "PlugboardError";
  readonly code: ErrorCode;
  /** The server that it is about. */
  readonly server: string | undefined;
  /** The id of the tool that was called. */
  readonly tool: string | undefined;
  readonly data: ErrorData | undefined;
  /** What to do next, for a person. */
  readonly hint: string;
  /** What to do next, for a model; see `ErrorDetails`. */
  readonly advice: string | undefined;
  /** Whether the server executed the request, as far as that is known. */
  readonly executed: Executed;
  /** True if repeating an executed request is harmless: the tool is read-only or idempotent. */
  readonly repeatable: boolean;
  /** How long to wait before the next attempt. */
  readonly retryAfterMs: number | undefined;
  /** The scopes that the login lacks. */
  readonly missingScopes: readonly string[] | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.server = details.server;
    this.tool = details.tool;
    this.data = details.data;
    this.hint = details.hint ?? details.advice ?? hintFor(code, details);
    this.advice = details.advice;
    this.executed = details.executed ?? errorTable[code].executed;
    this.repeatable = details.repeatable ?? false;
    this.retryAfterMs = details.retryAfterMs;
    this.missingScopes = details.missingScopes;
  }

  /** A copy with some details changed. Keeps the cause. */
  with(details: Omit<ErrorDetails, "cause"> & { message?: string }): PlugboardError {
    const { message = this.message, ...changed } = details;
    return new PlugboardError(this.code, message, Object.assign({}, this, changed, { cause: this.cause }));
  }

  /** The exact cause, for codes with several. */
  get reason(): ErrorReason | undefined {
    return this.data?.reason;
  }

  /** True if the same request may succeed later and repeating it is harmless. */
  get retryable(): boolean {
    const { passes } = errorTable[this.code];
    return passes && (this.executed === "no" || (this.executed === "maybe" && this.repeatable));
  }

  /** True if a person ended the whole turn: an agent makes no further call, and does not let a model go on. */
  get endsTurn(): boolean {
    return this.reason === "turn-cancelled";
  }

  /** The code of the corresponding JSON-RPC error. */
  get rpcCode(): number {
    return errorTable[this.code].rpcCode;
  }

  /** The exit code of the command line. */
  get exitCode(): number {
    return errorTable[this.code].exitCode;
  }

  /** The HTTP status of the gateway. */
  get httpStatus(): number {
    return errorTable[this.code].httpStatus;
  }

  /** Everything but the cause and the stack. */
  toJSON(): Record<string, unknown> {
    const { code, message, server, tool, data, hint, advice } = this;
    const { executed, retryable, retryAfterMs, missingScopes } = this;
    return {
      code,
      message,
      server,
      tool,
      data,
      hint,
      ...(advice !== undefined && { advice }),
      executed,
      retryable,
      retryAfterMs,
      missingScopes,
    };
  }
}

/** The hint from the table, with the server or tool filled in if known. */
export function hintFor(code: ErrorCode, { server, tool }: Pick<ErrorDetails, "server" | "tool">): string {
  const fill = (pattern: string, mark: string, name: string | undefined) =>
    name === undefined ? pattern : pattern.replaceAll(mark, () => shellWord(name));
  return fill(fill(errorTable[code].hint, "<server>", server), "<tool>", tool);
}

/** True for errors from any loaded copy of this package, so it works with duplicate installs. */
export function isPlugboardError(value: unknown, code?: ErrorCode): value is PlugboardError {
  return (
    value instanceof Error &&
    value.name === "PlugboardError" &&
    "code" in value &&
    (code === undefined || value.code === code)
  );
}
