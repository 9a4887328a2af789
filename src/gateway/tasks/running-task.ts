import type { TaskProtocol, TaskStatus } from "../../host.ts";
import { isRecord } from "../../lib/record.ts";
import type { Answer, RpcFailure } from "../exchange.ts";
import { failed } from "../failure.ts";
import { answerBytes, keptAnswer, valueBytes } from "../result.ts";
import { describeTask } from "./protocols.ts";
import type { ShownTask } from "./protocols.ts";

/** What goes on with a call that required input. */
export interface Continuation {
  inputResponses: Record<string, unknown>;
  requestState: unknown;
}

export interface RunningTaskSettings {
  id: string;
  caller: string;
  server: string;
  ttlMs: number;
  /** Ends the work at the server. */
  abort: AbortController;
}

interface OpenInput {
  request: unknown;
  /** The key that it came with. Ours are unique for the whole life of the task. */
  key: string;
}

/** How long people may think; the call behind it waits no longer either. */
const questionMs = 600_000;
const mostRounds = 50;

/** A call that goes on in this process after its request was answered with a task. */
export class RunningTask implements ShownTask {
  readonly id: string;
  readonly caller: string;
  readonly server: string;
  readonly ttlMs: number;
  readonly createdAt = Date.now();
  updatedAt = this.createdAt;
  statusMessage: string | undefined;
  readonly #abort: AbortController;
  readonly #inputs = new Map<string, OpenInput>();
  readonly #listeners = new Set<() => void>();
  #responses: Record<string, unknown> = {};
  #issued = 0;
  #askedBytes = 0;
  #outcome: Answer | undefined;
  #isCancelled = false;

  constructor({ id, caller, server, ttlMs, abort }: RunningTaskSettings) {
    this.id = id;
    this.caller = caller;
    this.server = server;
    this.ttlMs = ttlMs;
    this.#abort = abort;
  }

  /** Follows the call, round by round, until it has an outcome. */
  follow(first: Promise<Answer>, again: (more: Continuation) => Promise<Answer>): void {
    this.#run(first, again)
      .catch(failed)
      .then((answer) => this.#settle(answer))
      .catch(() => undefined);
  }

  get status(): TaskStatus {
    if (this.#isCancelled) return "cancelled";
    if (this.#outcome) return "error" in this.#outcome ? "failed" : "completed";
    return this.#inputs.size > 0 ? "input_required" : "working";
  }

  get outcome(): Answer | undefined {
    return this.#outcome;
  }

  /** The estimated memory of its outcome, or of its open questions and the answers so far. */
  get heldBytes(): number {
    return this.#outcome ? answerBytes(this.#outcome) : this.#askedBytes;
  }

  /** What it wants to know, by key. */
  get inputRequests(): Record<string, unknown> {
    return Object.fromEntries([...this.#inputs].map(([key, { request }]) => [key, request]));
  }

  /** Takes answers; those to other keys mean nothing. */
  update(inputResponses: Record<string, unknown>): void {
    for (const [key, input] of this.#inputs) {
      const response = Object.hasOwn(inputResponses, key) ? inputResponses[key] : undefined;
      if (!isRecord(response)) continue;
      this.#inputs.delete(key);
      this.#askedBytes += valueBytes(response);
      this.#responses = { ...this.#responses, ...Object.fromEntries([[input.key, response]]) };
      this.#changed();
    }
  }

  /** Ends it, unless it is over, and cancels it at the server. */
  cancel(): void {
    if (this.#outcome || this.#isCancelled) return;
    this.#isCancelled = true;
    this.#forgetInputs();
    this.#changed();
    this.#abort.abort();
  }

  /** Ends it with this failure, unless it is over, and cancels it at the server. */
  fail(error: RpcFailure): void {
    if (this.#outcome || this.#isCancelled) return;
    this.#settle({ error });
    this.#abort.abort();
  }

  /** Calls `listener` after each change. Returns how to stop that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves with the next change, or rejects with the signal's reason. */
  async change(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    const stop = this.onChange(resolve);
    try {
      await promise;
    } finally {
      stop();
      signal.removeEventListener("abort", onAbort);
    }
  }

  describe(protocol: TaskProtocol): Record<string, unknown> {
    const shown = describeTask(this, protocol);
    // The older protocol counts a result that is an error as a failure.
    const isFailed = protocol === "2025-11-25" && this.#outcome !== undefined && isErrorResult(this.#outcome);
    return isFailed && this.status === "completed" ? { ...shown, status: "failed" } : shown;
  }

  async #run(first: Promise<Answer>, again: (more: Continuation) => Promise<Answer>): Promise<Answer> {
    let answer = await first;
    for (let round = 0; round < mostRounds && !this.#isCancelled; round++) {
      const result = "result" in answer ? answer.result : {};
      if (result["resultType"] !== "input_required") return answer;
      const { inputRequests, requestState } = result;
      const inputResponses = await this.#collect(isRecord(inputRequests) ? inputRequests : {});
      answer = await again({ inputResponses, requestState });
    }
    return this.#isCancelled
      ? answer
      : { error: { code: -32_603, message: "The server does not stop asking." } };
  }

  /** Asks for input, and waits until all of it is there. */
  async #collect(requests: Record<string, unknown>): Promise<Record<string, unknown>> {
    this.#responses = {};
    this.#askedBytes = valueBytes(requests);
    for (const [key, request] of Object.entries(requests))
      this.#inputs.set(`input-${++this.#issued}`, { request, key });
    this.#changed();
    const late = setTimeout(() => this.cancel(), questionMs).unref();
    try {
      while (this.#inputs.size > 0) await this.change(this.#abort.signal);
    } finally {
      clearTimeout(late);
    }
    return this.#responses;
  }

  #settle(answer: Answer): void {
    if (this.#outcome) return;
    if (!this.#isCancelled) this.#outcome = keptAnswer(answer);
    this.#forgetInputs();
    this.#changed();
  }

  #forgetInputs(): void {
    this.#inputs.clear();
    this.#responses = {};
    this.#askedBytes = 0;
  }

  #changed(): void {
    this.updatedAt = Date.now();
    for (const listener of this.#listeners) listener();
  }
}

function isErrorResult(answer: Answer): boolean {
  if ("error" in answer) return true;
  return "bytes" in answer ? answer.isError : answer.result["isError"] === true;
}
