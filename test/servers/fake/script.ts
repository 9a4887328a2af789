/**
 * What a fake server says and does, as an object that survives JSON: a stdio fake gets it as an argument.
 * Everything is optional; `{}` is a well-behaved server that speaks every revision.
 */
export interface Script {
  /** The only revisions it speaks; which of the two eras it lives in follows from them. Default `both`. */
  versions?: "legacy" | "modern" | "both" | Revision[];
  serverInfo?: Fields;
  /** Replaces the default, which declares everything. Methods of a missing capability are unknown. */
  capabilities?: Fields;
  instructions?: string;
  /** What `tools/list` shows in place of the built-in tools, passed on as it is; a tool of an unknown name echoes. */
  tools?: Fields[];
  resources?: Fields[];
  resourceTemplates?: Fields[];
  prompts?: Fields[];
  /** Splits every list into pages. */
  pageSize?: number;
  /** Modern: what cacheable results say about themselves. Default `{ ttlMs: 0, cacheScope: "private" }`. */
  cache?: { ttlMs: number; cacheScope: "public" | "private" };
  /** Done once before the first message is looked at: a banner, a slow start, an exit, silence for good. */
  start?: Step[];
  /** The first rule that matches a message decides what happens with it; without one the server behaves. */
  on?: Rule[];
  /** Where a step that repeats gives up. Defaults: 256 MiB and 60 s. */
  limits?: { bytes?: number; ms?: number };

  /** stdio: what ends a message. Default `"\n"`. */
  lineEnd?: string;
  /** stdio: hints to leave that it does not take. */
  ignores?: ("eof" | "SIGTERM")[];
  /** stdio: a file that gets one JSON line for the start, for each message received and for the exit (`LogLine`). */
  log?: string;

  /** HTTP, legacy: whether `initialize` starts a session; a list names the ids to give out first. Default true. */
  sessions?: boolean | string[];
  /** HTTP: `json` is upgraded to `sse` when something is said before the answer. Default `json`. */
  responses?: "json" | "sse";
  /** HTTP, legacy: events get ids, and a GET with Last-Event-ID continues their stream. */
  resumable?: boolean;
  /** HTTP: the `retry` field at the start of every event stream. */
  retryMs?: number;
  /** HTTP: comment lines on open event streams. */
  keepAliveMs?: number;
}

export type Revision =
  | "2024-10-07"
  | "2024-11-05"
  | "2025-03-26"
  | "2025-06-18"
  | "2025-11-25"
  | "2026-07-28"
  | (string & {});

export type Fields = Record<string, unknown>;

export interface Rule {
  when: When;
  /** Without an answer among them the request stays unanswered; an empty list is silence. */
  do: Step[];
}

/** All that is given must match. */
export interface When {
  method?: string;
  /** The name in a `tools/call`. */
  tool?: string;
  /** The HTTP verb: `GET` and `DELETE` have no message, `POST` is every message. */
  http?: "GET" | "POST" | "DELETE";
  path?: "/mcp" | "/sse" | "/messages";
  /** Only these of the matching messages, counted from 1. */
  nth?: number | number[];
  /** Only from this matching message on. */
  from?: number;
}

/** In messages and bytes, `$id` stands for the id of the request. */
export type Step =
  /** What the server would have done. */
  | ({ default: true } & Delivery)
  /** A result; in the modern era the fields that every result needs are added. */
  | ({ answer: Fields } & Delivery)
  | ({ error: { code: number; message: string; data?: unknown } } & Delivery)
  /** Exactly this, whatever it is: both `result` and `error`, a batch, a request. */
  | ({ message: unknown } & Delivery)
  /** List changes and resource updates go where the era wants them, everything else to the request's stream. */
  | ({ notify: { method: string; params?: Fields } } & Delivery)
  /** Asks the client (`elicitation/create` and the like) and waits for its answer, unless told not to. */
  | ({ request: { method: string; params?: Fields }; wait?: boolean } & Delivery)
  /** That many progress notifications for the request's token. */
  | { progress: number | "forever"; everyMs?: number }
  /** Bytes without framing. Over HTTP `output` is the body of the answer, an event stream unless `http` said otherwise. */
  | ({ raw: Bytes; to?: "output" | "stderr" | "socket" } & Delivery)
  | { delayMs: number }
  /** Goes on after the next matching message, or after the `nth` since the script began. */
  | { waitFor: Omit<When, "from" | "nth"> & { nth?: number } }
  /** Stops here for good. */
  | { silent: true }
  /** Changes the script from here on; a new `on` starts counting anew. */
  | { set: Partial<Script> }
  /** stdio: ends (or stops) the process. HTTP: the port is closed until `restart()`. */
  | { exit: number | NodeJS.Signals }
  /** stdio: closes stdout or stdin and lives on. HTTP: ends the answer properly. */
  | { close: "output" | "input" }
  /** stdio: a child that keeps stdout open for that long, whatever happens to its parent. */
  | { child: { ms: number } }
  /** HTTP: an answer of any kind: redirects, challenges, outages. */
  | ({ http: HttpAnswer } & Delivery)
  /** HTTP: headers for the answer to come. An `mcp-session-id` becomes a session. */
  | { headers: Record<string, string | string[]> }
  /** HTTP: the connection ends in the middle of whatever was going on. */
  | { drop: "fin" | "reset" };

/** How a message, bytes or a body leave the server. */
export interface Delivery {
  /** Answers under another id; `{ flip: true }` makes a string of a number and the other way round. */
  id?: unknown;
  /** More than once; `forever` ends at the script's limits. */
  times?: number | "forever";
  everyMs?: number;
  /** Only this fraction of the bytes, and then nothing: follow it with `exit`, `drop` or `close`. */
  cut?: number;
  /** Written in pieces of this size, or of these sizes and a rest. */
  chunkBytes?: number | number[];
  chunkDelayMs?: number;
}

export type Bytes =
  | string
  | { base64: string }
  | { repeat: string; times: number }
  /** Zeros that become this many bytes once decompressed. */
  | { bomb: "gzip" | "br"; bytes: number };

export interface HttpAnswer {
  status?: number;
  headers?: Record<string, string | string[]>;
  contentType?: string;
  body?: Bytes;
  json?: unknown;
  /** Leaves the body open for `raw` steps. */
  open?: boolean;
}

export type LogLine =
  | { event: "start"; pid: number; argv: string[]; cwd: string; env: Record<string, string | undefined> }
  | { event: "received"; pid: number; line: string }
  | { event: "exit"; pid: number; why: string };
