import { isUtf8 } from "node:buffer";
import type { PlugboardError } from "../../errors.ts";
import { jsonMembers, oneLine } from "../../lib/json-members.ts";
import type { JsonMember } from "../../lib/json-members.ts";
import { isRecord } from "../../lib/record.ts";
import { Deadlines } from "./deadlines.ts";
import { requestErrors } from "./errors.ts";
import type { Listener } from "./inbound.ts";
import { readAnswer, readProgress, toJson } from "./messages.ts";
import type { JsonRpcAnswer, Progress, RawAnswer, RpcRequest } from "./messages.ts";

export interface RequestOptions extends Listener {
  /** How long the server may be silent; every progress notification starts it again. */
  timeoutMs: number;
  /** How long the request may take at all, whatever progress says. */
  maxTimeoutMs: number;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Hand out a result as its bytes (`RawAnswer`), without parsing it. */
  raw?: boolean | undefined;
  /** Part of a handshake: no progress token, and the server is not told when it is given up. */
  isHandshake?: boolean | undefined;
  /** Stays open by design and does not count as under way. */
  isStanding?: boolean | undefined;
  /** Writes the request as JSON, where its parameters are to keep the bytes they came with. */
  write?: ((request: RpcRequest) => string) | undefined;
  trace?: RequestTrace | undefined;
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
  /** Whether anybody wants to know the sizes. */
  isMeasured?: boolean;
  requestBytes?: number;
  resultBytes?: number;
}

export interface RequestSettings {
  server: string;
  /** May throw or reject; either ends that request. */
  send(request: RpcRequest, text: string): void | Promise<void>;
  /** Nobody waits any more; with a reason the server is told. Called once per timed-out or aborted request. */
  cancel(id: string, reason?: string): void;
  /** Takes what is secret out of errors and progress; results are the server's own. */
  redaction?: Cleaner | undefined;
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
}

interface GivenUp {
  options: RequestOptions;
  at: number;
}

const maxRemembered = 1024;
/** For how long a server may still ask about a request that was given up: as long as a call may take. */
const afterthoughtMs = 600_000;

/** Our requests on their way over one connection, matched to their answers. Every request has exactly one outcome. */
export class Requests {
  readonly counts = { late: 0, duplicate: 0, malformed: 0 };
  readonly #settings: RequestSettings;
  readonly #errors: ReturnType<typeof requestErrors>;
  readonly #waiting = new Map<string, Waiting>();
  readonly #deadlines: Deadlines;
  /** Ids given up by timeout or cancellation: tells a late answer from a repeated one. Bounded. */
  readonly #abandoned = new Map<string, GivenUp>();
  /** One of each person whose ids were dropped from those, so that nobody can push others out. Bounded. */
  readonly #forgotten = new Map<unknown, GivenUp>();
  #issued = 0;
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
        this.#abandon(waiting, this.#errors.timedOut(method, elapsedMs, options), "The request timed out.");
      },
      settings.now,
    );
  }

  /** How many are under way. */
  get inFlight(): number {
    return this.#waiting.size - this.#standing;
  }

  /** Those under way, without the ones that stay open by design. */
  *underWay(): Generator<Waiting> {
    for (const waiting of this.#waiting.values()) if (!waiting.options.isStanding) yield waiting;
  }

  /** Who gave requests up that the server has not answered since: it may still ask on their behalf. */
  givenUp(): RequestOptions[] {
    const since = this.#deadlines.now() - afterthoughtMs;
    const all = [...this.#abandoned.values(), ...this.#forgotten.values()];
    return all.filter(({ at }) => at >= since).map(({ options }) => options);
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
      const startedAt = this.#deadlines.now();
      const dueAt = startedAt + Math.min(options.timeoutMs, options.maxTimeoutMs);
      const onAbort = signal && (() => this.#abort(id, signal.reason));
      if (options.trace) {
        options.trace.requests = this;
        options.trace.id = id;
      }
      if (onAbort) signal.addEventListener("abort", onAbort);
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
      };
      this.#waiting.set(id, waiting);
      if (options.raw) this.#raw++;
      if (options.isStanding) this.#standing++;
      this.#deadlines.watch(waiting);
      const request = {
        jsonrpc: "2.0",
        id,
        method,
        params: options.isHandshake ? params : withMeta(params, envelope, id),
      };
      this.#send(request as RpcRequest, options);
    });
  }

  get wantsBytes(): boolean {
    return this.#raw > 0;
  }

  /** True when the bytes were the result of a request that wants them as they are. */
  takes(bytes: Buffer): boolean {
    if (this.#raw === 0) return false;
    const members = jsonMembers(bytes);
    const result = members?.find(({ key }) => key === "result");
    if (!members || !result) return false;
    const waiting = this.#waiting.get(idIn(bytes, members));
    if (!waiting?.options.raw || !isPlainAnswer(members, bytes)) return false;
    const raw = readRaw(bytes.subarray(result.start, result.end));
    if (raw) this.#take(waiting.id, bytes.length)?.resolve(raw);
    return raw !== undefined;
  }

  /** True when the message was an answer to, or progress of, a request of ours, finished ones included. */
  accepts(message: Record<string, unknown>, bytes?: number): boolean {
    if (message["method"] === "notifications/progress") return this.#acceptsProgress(message["params"]);
    const id = message["id"];
    if (typeof id !== "string" || "method" in message) return false;
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return this.#acceptsFinished(id);
    const answer = readAnswer(message);
    if (answer !== undefined) {
      const { redaction } = this.#settings;
      this.#take(id, bytes)?.resolve("error" in answer && redaction ? redaction.value(answer) : answer);
    } else {
      this.counts.malformed++;
      this.fail(id, this.#errors.malformed(waiting.method));
    }
    return true;
  }

  /** False when the request already has its outcome. */
  fail(id: string, error: PlugboardError): boolean {
    const waiting = this.#take(id);
    waiting?.reject(this.#settings.redaction?.error(error) ?? error);
    return waiting !== undefined;
  }

  /** Gives a request up, as its signal would. */
  abort(id: string, reason: unknown): void {
    this.#abort(id, reason);
  }

  /** The deadline of a request stands still as long as somebody thinks about its question. Returns how to end that. */
  hold(waiting: Waiting): () => void {
    return this.#deadlines.hold(waiting);
  }

  /** Rejects everything in flight, and every later request, with this error. */
  close(error: PlugboardError = this.#errors.closed()): void {
    this.#closed ??= error;
    for (const id of this.#waiting.keys()) this.fail(id, error);
    this.#deadlines.close();
    this.#abandoned.clear();
    this.#forgotten.clear();
  }

  #send(request: RpcRequest, { write = toJson, trace }: RequestOptions): void {
    const { id } = request;
    try {
      const text = write(request);
      if (trace?.isMeasured) trace.requestBytes = Buffer.byteLength(text);
      const sent = this.#settings.send(request, text);
      if (sent !== undefined) sent.catch((error: unknown) => this.fail(id, this.#errors.unsent(error)));
    } catch (error) {
      this.fail(id, this.#errors.unsent(error));
    }
  }

  #take(id: string, resultBytes?: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(id);
    const { raw, isStanding, signal, trace } = waiting.options;
    if (trace) {
      trace.requests = undefined;
      if (trace.isMeasured && resultBytes !== undefined) trace.resultBytes = resultBytes;
    }
    if (raw) this.#raw--;
    if (isStanding) this.#standing--;
    if (waiting.onAbort) signal?.removeEventListener("abort", waiting.onAbort);
    if (waiting.onEnd) for (const end of waiting.onEnd) end();
    this.#deadlines.ended();
    return waiting;
  }

  #abandon(waiting: Waiting, error: PlugboardError, reason: string): void {
    const { id, options } = waiting;
    this.#abandoned.set(id, { options, at: this.#deadlines.now() });
    if (this.#abandoned.size > maxRemembered) {
      for (const [oldest, its] of this.#abandoned) {
        this.#abandoned.delete(oldest);
        const { onQuestion, caller, answeredBy } = its.options;
        if (onQuestion && this.#forgotten.size < maxRemembered)
          this.#forgotten.set(caller ?? answeredBy, its);
        break;
      }
    }
    this.fail(id, error);
    try {
      this.#settings.cancel(id, options.isHandshake ? undefined : reason);
    } catch {
      // The outcome is decided; a server that cannot even be told is found out by the transport.
    }
  }

  #abort(id: string, reason: unknown): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    const { method, options } = waiting;
    // What gave up a handshake is what its caller wants to hear.
    const error = options.isHandshake
      ? (reason as PlugboardError)
      : this.#errors.cancelled(method, reason, true);
    this.#abandon(waiting, error, "The caller cancelled the request.");
  }

  #acceptsFinished(id: string): boolean {
    if (!this.#wasIssued(id)) return false;
    if (this.#abandoned.delete(id)) this.counts.late++;
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

function withMeta(
  params: Record<string, unknown>,
  envelope: Record<string, unknown> | undefined,
  progressToken: string,
): Record<string, unknown> {
  const meta = isRecord(params["_meta"]) ? params["_meta"] : undefined;
  return { ...params, _meta: { ...meta, ...envelope, progressToken } };
}

function idIn(bytes: Buffer, members: readonly JsonMember[]): string {
  const id = members.find(({ key }) => key === "id");
  return id && bytes[id.start] === 0x22 ? bytes.toString("utf8", id.start + 1, id.end - 1) : "";
}

/** One of each key, no method and no error: a hostile server could hide a second answer behind the first. */
function isPlainAnswer(members: readonly JsonMember[], bytes: Buffer): boolean {
  const keys = new Set(members.map(({ key }) => key));
  const version = members.find(({ key }) => key === "jsonrpc");
  const isVersion = version && bytes.toString("utf8", version.start, version.end) === '"2.0"';
  return keys.size === members.length && isVersion === true && !keys.has("method") && !keys.has("error");
}

/** Undefined when it is not a JSON object, or names a key twice: then it is parsed like any other. */
function readRaw(bytes: Buffer): RawAnswer | undefined {
  const members = jsonMembers(bytes);
  if (!members || !isUtf8(bytes) || new Set(members.map(({ key }) => key)).size !== members.length)
    return undefined;
  const text = bytes.toString("utf8");
  let value: { resultType?: unknown; isError?: unknown };
  try {
    value = JSON.parse(text) as typeof value;
  } catch {
    return undefined;
  }
  const { resultType, isError } = value;
  return {
    bytes: bytes.includes(0x0a) || bytes.includes(0x0d) ? Buffer.from(oneLine(text)) : bytes,
    resultType: typeof resultType === "string" ? resultType : undefined,
    isError: isError === true,
  };
}
