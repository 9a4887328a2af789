import type { TargetIdentity } from "../target-identity.ts";
import type { PlugboardError } from "../../errors.ts";
import { isDeeperThan } from "../../lib/depth.ts";
import { isRecord } from "../../lib/record.ts";
import type { SentSpan } from "../../lib/telemetry.ts";
import { TransientMap } from "../../lib/transient.ts";
import { Deadlines } from "./deadlines.ts";
import { maxDepth } from "./depth.ts";
import { requestErrors } from "./errors.ts";
import { GivenUpRequests } from "./given-up.ts";
import type { Listener } from "./inbound.ts";
import { SessionAudience } from "./message-audience.ts";
import { callJson, readAnswer, readProgress, toJson } from "./messages.ts";
import type { JsonRpcAnswer, Progress, RawAnswer, RpcRequest } from "./messages.ts";
import { readRawAnswer } from "./raw-answer.ts";

export interface RequestOptions extends Listener {
  /** How long the server may be silent; every progress notification starts it again. */
  timeoutMs: number;
  /** How long the request may take at all, whatever progress says. */
  maxTimeoutMs: number;
  /** Cancels the request, and tells the server. */
  signal?: AbortSignal | undefined;
  /** Called for each progress report of the server. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Hand out a result as its bytes (`RawAnswer`), without parsing it. */
  raw?: boolean | undefined;
  /** Part of a handshake: no progress token, and the server is not told when it is given up. */
  isHandshake?: boolean | undefined;
  /** Whoever asks decides about each part of a result that is nested too deeply. */
  judgesDepth?: boolean | undefined;
  /** Stays open by design and does not count as under way. */
  isStanding?: boolean | undefined;
  /** Writes the request as JSON, where its parameters are to keep the bytes they came with. */
  write?: ((request: RpcRequest) => string) | undefined;
  /** HTTP headers for this request only, checked by `requestHeaders`. */
  headers?: Readonly<Record<string, string>> | undefined;
  trace?: RequestTrace | undefined;
  /** The server's id of a task whose questions belong to this request. */
  waitsForTask?: string | undefined;
}

/** A request as seen from outside: how to give it up, and how large it and its answer were. */
export interface RequestTrace {
  /** It was given up; nothing more is sent. */
  cancelled?: PlugboardError | undefined;
  /** Set while it is under way: where, and as which request. */
  requests?: Requests | undefined;
  id?: string;
  /** Set while somebody waits for something else: a connection, an approval, an answer. */
  cancel?: ((reason: unknown) => void) | undefined;
  /** True if it was last sent to a modern server. */
  isModern?: boolean;
  /** What it was last sent to. */
  target?: TargetIdentity;
  /** Whether anybody wants to know the sizes. */
  isMeasured?: boolean;
  requestBytes?: number;
  resultBytes?: number | undefined;
}

export interface RequestSettings {
  server: string;
  /** May throw or reject; either ends that request. */
  send(request: RpcRequest, text: string, headers?: RequestOptions["headers"]): void | Promise<void>;
  /** Nobody waits any more; with a reason the server is told. Called once per timed-out or aborted request. */
  cancel(id: string, reason?: string): void;
  /** Takes what is secret out of errors and progress; results are the server's own. */
  redaction?: Cleaner | undefined;
  /** Told of every request that is sent; absent if nobody wants to know. */
  traced?: ((method: string, params: Record<string, unknown>, id: string) => SentSpan) | undefined;
  /** A monotonic clock in milliseconds. */
  now?: (() => number) | undefined;
}

export interface Cleaner {
  value<T>(value: T): T;
  error(error: unknown): unknown;
}

export interface Waiting {
  id: string;
  method: string;
  options: RequestOptions;
  startedAt: number;
  dueAt: number;
  /** Open questions of this request, and since when its deadline stands still for them. */
  questions: number;
  heldAt: number;
  resolve(answer: JsonRpcAnswer | RawAnswer): void;
  reject(error: unknown): void;
  onAbort: (() => void) | undefined;
  /** What ends with it: its open questions. */
  onEnd: (() => void)[] | undefined;
  span: SentSpan | undefined;
}

/** Our requests on their way over one connection, matched to their answers. Every request has exactly one outcome. */
export class Requests {
  readonly counts = { late: 0, duplicate: 0, malformed: 0 };
  /** Who sends requests over this connection, and so whose the server's own messages are. */
  readonly audience = new SessionAudience();
  readonly #settings: RequestSettings;
  readonly #errors: ReturnType<typeof requestErrors>;
  readonly #waiting = new TransientMap<Waiting>();
  readonly #deadlines: Deadlines;
  /** Tells a late answer from a repeated one. */
  readonly #givenUp = new GivenUpRequests();
  #issued = 0;
  /** How many were issued when the last one was given up; 0 once the server has read that. */
  #givenUpAt = 0;
  #raw = 0;
  #standing = 0;
  #closed: PlugboardError | undefined;

  constructor(settings: RequestSettings) {
    this.#settings = settings;
    this.#errors = requestErrors(settings.server);
    this.#deadlines = new Deadlines(
      this.#waiting,
      (waiting, elapsedMs) => {
        const { method, options } = waiting;
        this.giveUp(waiting, this.#errors.timedOut(method, elapsedMs, options), "The request timed out.");
      },
      settings.now,
    );
  }

  /** How many there have been over this connection, those of its earlier uses included. */
  get issued(): number {
    return this.#issued;
  }

  /** Continues the ids of an earlier use, whose late answers then count as answered. */
  continueAfter(issued: number): void {
    this.#issued = Math.max(this.#issued, issued);
  }

  /** How many are under way. */
  get inFlight(): number {
    return this.#waiting.size - this.#standing;
  }

  /** Those under way, without the ones that stay open by design. */
  *underWay(): Generator<Waiting> {
    for (const waiting of this.#waiting.values()) if (!waiting.options.isStanding) yield waiting;
  }

  /** Whose requests were given up, at most that long ago, and not answered since. */
  givenUp(): Listener[] {
    return this.#givenUp.within(this.#deadlines.now());
  }

  /** Whose requests were given up a moment ago, so that the server may not know yet. */
  givenUpUnread(withinMs: number): Listener[] {
    return this.#givenUp.unread(this.#deadlines.now(), withinMs);
  }

  get(id: string): Waiting | undefined {
    return this.#waiting.get(id);
  }

  /** `envelope` goes into `_meta`, beside what is there. */
  request(
    method: string,
    params: Record<string, unknown>,
    options: RequestOptions & { raw: true },
    envelope?: Record<string, unknown>,
  ): Promise<JsonRpcAnswer | RawAnswer>;
  request(
    method: string,
    params: Record<string, unknown>,
    options: RequestOptions,
    envelope?: Record<string, unknown>,
  ): Promise<JsonRpcAnswer>;
  request(
    method: string,
    params: Record<string, unknown>,
    options: RequestOptions,
    envelope?: Record<string, unknown>,
  ): Promise<JsonRpcAnswer | RawAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(this.#closed.with({ executed: "no" }));
      const { signal } = options;
      if (options.trace?.cancelled) return reject(options.trace.cancelled);
      if (signal?.aborted) return reject(this.#errors.cancelled(method, signal.reason, false));
      const id = `p${++this.#issued}`;
      if (options.onQuestion) this.audience.usedBy(options.caller);
      const startedAt = this.#deadlines.now();
      const dueAt = startedAt + Math.min(options.timeoutMs, options.maxTimeoutMs);
      const onAbort = signal && (() => this.abort(id, signal.reason));
      if (options.trace) {
        options.trace.requests = this;
        options.trace.id = id;
      }
      if (onAbort) signal.addEventListener("abort", onAbort);
      // What stays open by design has no duration worth knowing.
      const span = options.isStanding ? undefined : this.#settings.traced?.(method, params, id);
      const waiting = {
        id,
        method,
        options,
        startedAt,
        dueAt,
        questions: 0,
        heldAt: 0,
        resolve,
        reject,
        onAbort,
        onEnd: undefined,
        span,
      };
      this.#waiting.add(id, waiting);
      if (options.raw) this.#raw++;
      if (options.isStanding) this.#standing++;
      this.#deadlines.watch(waiting);
      const request = {
        jsonrpc: "2.0",
        id,
        method,
        params: options.isHandshake
          ? withTrace(params, span?.meta)
          : withMeta(withTrace(params, span?.meta), envelope, id),
      };
      this.#send(request as RpcRequest, options);
    });
  }

  get wantsBytes(): boolean {
    return this.#raw > 0;
  }

  /** True when the bytes were the result of a request that wants them as they are. */
  takes(bytes: Buffer): boolean {
    const read = readRawAnswer(bytes, (id) => this.#waiting.get(id)?.options.raw === true);
    if (read) this.#answered(read.id, bytes.length, read.answer)?.resolve(read.answer);
    return read !== undefined;
  }

  /** True when the message was an answer to, or progress of, a request of ours, finished ones included. */
  accepts(message: Record<string, unknown>, bytes?: number): boolean {
    if (message["method"] === "notifications/progress") return this.#acceptsProgress(message["params"]);
    const id = message["id"];
    if (typeof id !== "string" || "method" in message) return false;
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return this.#acceptsFinished(id);
    const answer = readAnswer(message);
    if (answer !== undefined && "result" in answer && isTooDeep(answer, waiting.options, bytes)) {
      this.counts.malformed++;
      this.fail(id, this.#errors.tooDeep(waiting.method));
    } else if (answer !== undefined) {
      if ("error" in answer && answer.error.code === pageNeeded)
        this.audience.sentToPages(answer.error.data, waiting.options.caller);
      const { redaction } = this.#settings;
      const clean = "error" in answer && redaction ? redaction.value(answer) : answer;
      this.#answered(id, bytes, clean)?.resolve(clean);
    } else {
      this.counts.malformed++;
      this.fail(id, this.#errors.malformed(waiting.method));
    }
    return true;
  }

  /** False when the request already has its outcome. */
  fail(id: string, error: PlugboardError): boolean {
    const waiting = this.#take(id);
    if (waiting === undefined) return false;
    const clean = this.#settings.redaction?.error(error) ?? error;
    waiting.span?.failed(clean);
    waiting.reject(clean);
    return true;
  }

  /** Gives a request up; the server is told. */
  abort(id: string, reason: unknown): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    const { method, options } = waiting;
    // What gave up a handshake is what its caller wants to hear.
    const error = options.isHandshake
      ? (reason as PlugboardError)
      : this.#errors.cancelled(method, reason, true);
    this.giveUp(waiting, error, "The caller cancelled the request.");
  }

  /** The server has ended a request that stays open by design. */
  endStanding(id: unknown): void {
    const waiting = typeof id === "string" ? this.#waiting.get(id) : undefined;
    if (!waiting?.options.isStanding) return;
    this.fail(waiting.id, this.#errors.ended(waiting.method));
    this.#settings.cancel(waiting.id);
  }

  /** The deadline of a request stands still as long as somebody thinks about its question. Returns how to end that. */
  hold(waiting: Waiting): () => void {
    return this.#deadlines.hold(waiting);
  }

  /** Rejects everything in flight, and every later request, with this error. */
  close(error: PlugboardError = this.#errors.closed()): void {
    this.#closed ??= error;
    for (const { id } of this.#waiting.values()) this.fail(id, error);
    this.#deadlines.close();
    this.#givenUp.clear();
  }

  #send(request: RpcRequest, { write, trace, headers }: RequestOptions): void {
    const { id, method } = request;
    try {
      const text = write ? write(request) : method === "tools/call" ? callJson(request) : toJson(request);
      if (trace?.isMeasured) trace.requestBytes = Buffer.byteLength(text);
      const sent = this.#settings.send(request, text, headers);
      if (sent !== undefined) sent.catch((error: unknown) => this.fail(id, this.#errors.unsent(error)));
    } catch (error) {
      this.fail(id, this.#errors.unsent(error));
    }
  }

  #answered(
    id: string,
    resultBytes: number | undefined,
    answer: JsonRpcAnswer | RawAnswer,
  ): Waiting | undefined {
    if (this.#givenUpAt > 0 && Number(id.slice(1)) > this.#givenUpAt) {
      this.#givenUpAt = 0;
      this.#givenUp.markRead();
    }
    const waiting = this.#take(id, resultBytes, answer);
    waiting?.span?.answered(answer);
    return waiting;
  }

  #take(id: string, resultBytes?: number, answer?: JsonRpcAnswer | RawAnswer): Waiting | undefined {
    const waiting = this.#waiting.take(id);
    if (waiting === undefined) return undefined;
    const { raw, isStanding, signal, trace } = waiting.options;
    if (trace) {
      trace.requests = undefined;
      trace.resultBytes = resultBytes ?? (trace.isMeasured && answer ? sizeOf(answer) : undefined);
    }
    if (raw) this.#raw--;
    if (isStanding) this.#standing--;
    if (waiting.onAbort) signal?.removeEventListener("abort", waiting.onAbort);
    if (waiting.onEnd) for (const end of waiting.onEnd) end();
    this.#deadlines.ended();
    return waiting;
  }

  /** Fails a request with this error; the server is told the reason. */
  giveUp(waiting: Waiting, error: PlugboardError, reason: string): void {
    const { id, options } = waiting;
    this.#givenUp.add(id, options, this.#deadlines.now());
    this.#givenUpAt = this.#issued;
    this.fail(id, error);
    try {
      this.#settings.cancel(id, options.isHandshake ? undefined : reason);
    } catch {
      // The outcome is decided; a server that cannot even be told is found out by the transport.
    }
  }

  #acceptsFinished(id: string): boolean {
    if (!this.#wasIssued(id)) return false;
    if (this.#givenUp.delete(id)) this.counts.late++;
    else this.counts.duplicate++;
    return true;
  }

  #acceptsProgress(params: unknown): boolean {
    if (!isRecord(params)) return false;
    const token = params["progressToken"];
    if (typeof token !== "string") return false;
    const waiting = this.#waiting.get(token);
    if (waiting === undefined) {
      if (!this.#wasIssued(token)) return false;
      this.counts.late++;
      return true;
    }
    const progress = readProgress(params);
    if (progress === undefined) {
      this.counts.malformed++;
      return true;
    }
    this.#deadlines.extend(waiting);
    try {
      waiting.options.onProgress?.(this.#settings.redaction?.value(progress) ?? progress);
    } catch {
      // A listener's mistake must not stop the reading of other answers.
    }
    return true;
  }

  #wasIssued(id: string): boolean {
    return /^p[1-9]\d{0,15}$/.test(id) && Number(id.slice(1)) <= this.#issued;
  }
}

/** The error of a request that needs a person to open a page first. */
const pageNeeded = -32_042;

/** The size of an answer that came without being written, from a server in this process. */
function sizeOf(answer: JsonRpcAnswer | RawAnswer): number | undefined {
  try {
    return Buffer.byteLength(JSON.stringify(answer));
  } catch {
    return undefined;
  }
}

function isTooDeep(answer: object, { judgesDepth }: RequestOptions, bytes = Infinity): boolean {
  return !judgesDepth && bytes >= 2 * maxDepth && isDeeperThan(answer, maxDepth);
}

/** Parameters that say which trace they belong to, in place of what came from somebody else's. */
function withTrace(params: Record<string, unknown>, trace: SentSpan["meta"]): Record<string, unknown> {
  if (!trace) return params;
  const meta = isRecord(params["_meta"]) ? params["_meta"] : {};
  const { traceparent: _parent, tracestate: _state, ...rest } = meta;
  return { ...params, _meta: { ...rest, ...trace } };
}

function withMeta(
  params: Record<string, unknown>,
  envelope: Record<string, unknown> | undefined,
  progressToken: string,
): Record<string, unknown> {
  const meta = isRecord(params["_meta"]) ? params["_meta"] : undefined;
  return { ...params, _meta: { ...meta, ...envelope, progressToken } };
}
