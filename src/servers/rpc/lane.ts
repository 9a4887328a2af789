import type { PlugboardError } from "../../errors.ts";
import { isRecord } from "../../lib/record.ts";
import { laneErrors } from "./lane-errors.ts";
import { readAnswer, readProgress } from "./lane-messages.ts";
import type { JsonRpcAnswer, LaneRequest, Progress } from "./lane-messages.ts";

export type { JsonRpcAnswer, LaneRequest, Progress } from "./lane-messages.ts";

export interface LaneOptions {
  /** How long the server may be silent; every progress notification starts it again. */
  timeoutMs: number;
  /** How long the request may take at all, whatever progress says. */
  maxTimeoutMs: number;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}

export interface LaneSettings {
  server: string;
  /** May throw or reject; either ends that request. */
  send(request: LaneRequest): void | Promise<void>;
  /** Tells the server that nobody waits any more. Called once per timed-out or aborted request. */
  cancel(id: string, reason: string): void;
  /** A monotonic clock in milliseconds. */
  now?: () => number;
}

interface Waiting {
  method: string;
  options: LaneOptions;
  startedAt: number;
  dueAt: number;
  resolve(answer: JsonRpcAnswer): void;
  reject(error: unknown): void;
  onAbort: (() => void) | undefined;
}

const maxRemembered = 1024;
const maxDelayMs = 2 ** 31 - 1;

/**
 * Requests of our own, matched to answers outside the SDK's per-message schema parsing. Its ids are strings
 * ("p1"), the SDK's are numbers, so the two never meet on one connection. Every request has exactly one outcome.
 */
export class Lane {
  readonly counts = { late: 0, duplicate: 0, malformed: 0 };
  readonly #settings: LaneSettings;
  readonly #errors: ReturnType<typeof laneErrors>;
  readonly #now: () => number;
  readonly #waiting = new Map<string, Waiting>();
  /** Ids given up by timeout or cancellation: tells a late answer from a repeated one. Bounded. */
  readonly #abandoned = new Set<string>();
  #issued = 0;
  #closed: PlugboardError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerDueAt = Infinity;

  constructor(settings: LaneSettings) {
    this.#settings = settings;
    this.#errors = laneErrors(settings.server);
    this.#now = settings.now ?? (() => performance.now());
  }

  get inFlight(): number {
    return this.#waiting.size;
  }

  request(method: string, params: Record<string, unknown>, options: LaneOptions): Promise<JsonRpcAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(this.#closed);
      if (options.signal?.aborted) return reject(this.#errors.cancelled(method, options.signal.reason));
      const id = `p${++this.#issued}`;
      const startedAt = this.#now();
      const dueAt = startedAt + Math.min(options.timeoutMs, options.maxTimeoutMs);
      const onAbort = options.signal && (() => this.#abort(id));
      if (onAbort) options.signal?.addEventListener("abort", onAbort);
      this.#waiting.set(id, { method, options, startedAt, dueAt, resolve, reject, onAbort });
      this.#wakeAt(dueAt);
      const meta = isRecord(params["_meta"]) ? params["_meta"] : undefined;
      try {
        const sent = this.#settings.send({
          jsonrpc: "2.0",
          id,
          method,
          params: { ...params, _meta: { ...meta, progressToken: id } },
        });
        if (sent !== undefined) sent.catch((error: unknown) => this.reject(id, this.#errors.unsent(error)));
      } catch (error) {
        this.reject(id, this.#errors.unsent(error));
      }
    });
  }

  /** True when the message was an answer to, or progress of, a request of this lane, finished ones included. */
  accept(message: unknown): boolean {
    if (!isRecord(message)) return false;
    if (message["method"] === "notifications/progress") return this.#acceptProgress(message["params"]);
    const id = message["id"];
    if (typeof id !== "string" || "method" in message) return false;
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return this.#acceptFinished(id);
    const answer = readAnswer(message);
    if (answer === undefined) {
      this.counts.malformed++;
      this.reject(id, this.#errors.malformed(waiting.method));
    } else {
      this.settle(id, answer);
    }
    return true;
  }

  /** False when the request already has its outcome. */
  settle(id: string, answer: JsonRpcAnswer): boolean {
    const waiting = this.#take(id);
    waiting?.resolve(answer);
    return waiting !== undefined;
  }

  /** False when the request already has its outcome. */
  reject(id: string, error: PlugboardError): boolean {
    const waiting = this.#take(id);
    waiting?.reject(error);
    return waiting !== undefined;
  }

  /** Everything in flight is rejected. New requests are still taken; `close` refuses them too. */
  fail(error: PlugboardError): void {
    for (const id of this.#waiting.keys()) this.reject(id, error);
    this.#stopTimer();
  }

  /** Rejects everything in flight, and every later request, with this error. */
  close(error: PlugboardError = this.#errors.closed()): void {
    this.#closed ??= error;
    this.fail(error);
    this.#abandoned.clear();
  }

  #take(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(id);
    if (waiting.onAbort) waiting.options.signal?.removeEventListener("abort", waiting.onAbort);
    if (this.#waiting.size === 0) this.#timer?.unref();
    return waiting;
  }

  #abandon(id: string, error: PlugboardError, reason: string): void {
    this.#abandoned.add(id);
    if (this.#abandoned.size > maxRemembered) {
      for (const oldest of this.#abandoned) {
        this.#abandoned.delete(oldest);
        break;
      }
    }
    this.reject(id, error);
    try {
      this.#settings.cancel(id, reason);
    } catch {
      // The outcome is decided; a server that cannot even be told is found out by the transport.
    }
  }

  #abort(id: string): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    const error = this.#errors.cancelled(waiting.method, waiting.options.signal?.reason);
    this.#abandon(id, error, "The caller cancelled the request.");
  }

  #acceptFinished(id: string): boolean {
    if (!this.#wasIssued(id)) return false;
    if (this.#abandoned.delete(id)) this.counts.late++;
    else this.counts.duplicate++;
    return true;
  }

  #acceptProgress(params: unknown): boolean {
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
    const { timeoutMs, maxTimeoutMs, onProgress } = waiting.options;
    // The timer stays where it is: when it fires it finds the later deadline and sleeps again.
    waiting.dueAt = Math.min(this.#now() + timeoutMs, waiting.startedAt + maxTimeoutMs);
    try {
      onProgress?.(progress);
    } catch {
      // A listener's mistake must not stop the reading of other answers.
    }
    return true;
  }

  #wasIssued(id: string): boolean {
    if (!/^p[1-9]\d{0,15}$/.test(id)) return false;
    return Number(id.slice(1)) <= this.#issued;
  }

  /** One timer for all deadlines, set to the earliest; it holds the process only while something is in flight. */
  #wakeAt(dueAt: number): void {
    if (this.#timer !== undefined && this.#timerDueAt <= dueAt) {
      if (this.#waiting.size === 1) this.#timer.ref();
      return;
    }
    clearTimeout(this.#timer);
    this.#timerDueAt = dueAt;
    const delay = Math.min(Math.max(1, Math.ceil(dueAt - this.#now())), maxDelayMs);
    this.#timer = setTimeout(() => this.#expire(), delay);
  }

  #expire(): void {
    this.#stopTimer();
    const now = this.#now();
    let next = Infinity;
    const expired: [string, Waiting][] = [];
    for (const entry of this.#waiting) {
      if (entry[1].dueAt <= now) expired.push(entry);
      else next = Math.min(next, entry[1].dueAt);
    }
    if (next !== Infinity) this.#wakeAt(next);
    for (const [id, waiting] of expired) {
      const error = this.#errors.timedOut(waiting.method, now - waiting.startedAt, waiting.options);
      this.#abandon(id, error, "The request timed out.");
    }
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerDueAt = Infinity;
  }
}
