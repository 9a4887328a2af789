import type { PlugboardError } from "../../errors.ts";
import { Refusal } from "../../interact/answers.ts";
import { untilAborted } from "../../lib/abortable.ts";
import { isRecord } from "../../lib/record.ts";
import type { RpcMessage } from "./messages.ts";
import type { Cleaner, Requests, Waiting } from "./requests.ts";

/** What a server asks us. */
export interface Question {
  method: string;
  /** Whole, unknown fields included. */
  params: Record<string, unknown>;
  /** Aborted when the answer no longer matters. */
  signal: AbortSignal;
}

/** Whoever hears what the server says during a request. */
export interface Listener {
  /** Whoever answers, and for which caller: requests that agree in both have the same person behind them. */
  answeredBy?: object | undefined;
  caller?: string | undefined;
  /** Answers a question. Throw a `Refusal` for a JSON-RPC error of your choice. */
  onQuestion?: ((question: Question) => Promise<Record<string, unknown>>) | undefined;
  onNotification?: ((method: string, params: Record<string, unknown>) => void) | undefined;
}

interface OpenQuestion {
  abort: AbortController;
  /** The server itself no longer wants an answer. */
  isWithdrawn: boolean;
}

export interface InboundSettings {
  requests: Requests;
  redaction?: Cleaner | undefined;
  /** Whoever answers when no request is under way, and hears every notification. */
  otherwise: Listener;
  send(message: RpcMessage): void | Promise<void>;
  /** A question came and the transport could not tell during which request. */
  onUntold?: (() => void) | undefined;
}

const maxQuestions = 64;
/** Nobody may keep a server waiting for ever. */
const longestMs = 600_000;

/**
 * What comes from the server by itself: questions and notifications. Each belongs to the request during which it came;
 * where that cannot be told and different people have requests under way, a question is declined.
 */
export class Inbound {
  /** Messages that made no sense: answers to nothing, questions of a server that may not ask. */
  ignored = 0;
  /** In the modern era servers answer, they do not ask. */
  mayAsk = true;
  readonly #settings: InboundSettings;
  readonly #questions = new Map<unknown, OpenQuestion>();

  constructor(settings: InboundSettings) {
    this.#settings = settings;
  }

  receive(message: Record<string, unknown>, during: string | undefined): void {
    const { id, method } = message;
    const params = isRecord(message["params"]) ? message["params"] : {};
    if (typeof method !== "string") this.ignored++;
    else if (id === undefined) this.#hear(method, params, during);
    else void this.#answer(id, method, params, during);
  }

  /** Nothing more is coming. */
  close(error: PlugboardError): void {
    for (const question of this.#questions.values()) {
      question.isWithdrawn = true;
      question.abort.abort(error);
    }
    this.#questions.clear();
  }

  #hear(method: string, params: Record<string, unknown>, during: string | undefined): void {
    const withdrawn =
      method === "notifications/cancelled" ? this.#questions.get(params["requestId"]) : undefined;
    if (withdrawn) {
      withdrawn.isWithdrawn = true;
      withdrawn.abort.abort();
    }
    const { requests, otherwise, redaction } = this.#settings;
    const waiting = during === undefined ? onlyOne(requests) : requests.get(during);
    waiting?.options.onNotification?.(method, redaction?.value(params) ?? params);
    otherwise.onNotification?.(method, params);
  }

  async #answer(
    id: unknown,
    method: string,
    params: Record<string, unknown>,
    during: string | undefined,
  ): Promise<void> {
    if (!this.mayAsk || (typeof id !== "string" && typeof id !== "number")) {
      this.ignored++;
      return;
    }
    if (method === "ping") return this.#respond({ jsonrpc: "2.0", id, result: {} });
    if (this.#questions.size >= maxQuestions || this.#questions.has(id)) {
      const error = { code: -32_000, message: "Too many questions at once" };
      return this.#respond({ jsonrpc: "2.0", id, error });
    }
    const abort = new AbortController();
    const question: OpenQuestion = { abort, isWithdrawn: false };
    this.#questions.set(id, question);
    const releases: (() => void)[] = [];
    try {
      const { listener, asked } = this.#whom(during);
      const { onQuestion } = listener;
      if (!onQuestion) throw new Refusal(-32_601, "Method not found");
      const open = new Set(asked);
      for (const waiting of asked) {
        releases.push(this.#settings.requests.hold(waiting));
        // A question without the request that it belongs to is nobody's any more.
        (waiting.onEnd ??= []).push(() => void (open.delete(waiting) && open.size === 0 && abort.abort()));
      }
      const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(longestMs)]);
      const result = await untilAborted(onQuestion({ method, params, signal }), signal);
      if (!abort.signal.aborted) await this.#respond({ jsonrpc: "2.0", id, result });
    } catch (error) {
      const { code, message } = error instanceof Refusal ? error : abort.signal.aborted ? isOver : internal;
      if (!question.isWithdrawn) await this.#respond({ jsonrpc: "2.0", id, error: { code, message } });
    } finally {
      for (const release of releases) release();
      this.#questions.delete(id);
    }
  }

  /** Who is asked, and the requests that the question belongs to. Throws when that cannot be told. */
  #whom(during: string | undefined): { listener: Listener; asked: Waiting[] } {
    const { requests, otherwise, onUntold } = this.#settings;
    if (during !== undefined) {
      const waiting = requests.get(during);
      if (!waiting) throw new Refusal(isOver.code, isOver.message);
      return { listener: waiting.options.onQuestion ? waiting.options : otherwise, asked: [waiting] };
    }
    // Requests of the hub's own, such as lists, have nobody behind them.
    const asked = [...requests.underWay()].filter(({ options }) => options.onQuestion !== undefined);
    if (asked.length > 0) onUntold?.();
    // Of one person's requests the newest has the handler that is up to date.
    const listener = asked.at(-1)?.options ?? otherwise;
    const isUnclear =
      asked.some(({ options }) => !isSamePerson(options, listener)) ||
      requests.givenUp().some((one) => one.onQuestion !== undefined && !mayBeSamePerson(one, listener));
    if (isUnclear)
      throw new Refusal(-32_000, "Several people are using this server; it cannot be told whom to ask");
    return { listener, asked };
  }

  async #respond(message: RpcMessage): Promise<void> {
    try {
      await this.#settings.send(message);
    } catch {
      // The transport tells whoever has to know.
    }
  }
}

const isOver = { code: -32_000, message: "The request that this belongs to is over" };
const internal = { code: -32_603, message: "Internal error" };

/** A caller's name says who it is; without one, only the same object certainly answers for the same person. */
function isSamePerson(one: Listener, other: Listener): boolean {
  if (one.caller !== undefined || other.caller !== undefined) return one.caller === other.caller;
  return one.answeredBy === other.answeredBy;
}

/** The same for requests that are over: functions made for one call say nothing about who made them. */
function mayBeSamePerson(one: Listener, other: Listener): boolean {
  const isMadeForCall = typeof one.answeredBy === "function" || typeof other.answeredBy === "function";
  const isNameless = one.caller === undefined && other.caller === undefined;
  return isSamePerson(one, other) || (isNameless && isMadeForCall);
}

/** The only request under way; it may wait for questions to be told apart by the transport. */
function onlyOne(requests: Requests): Waiting | undefined {
  const [first, second] = requests.underWay();
  return second === undefined ? first : undefined;
}
