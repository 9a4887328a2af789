import { isPlugboardError } from "../../errors.ts";
import type { PlugboardError } from "../../errors.ts";
import { Refusal } from "../../interact/answers.ts";
import { questionMs } from "../../interact/questions.ts";
import { untilAborted } from "../../lib/abortable.ts";
import { startDeadline } from "../../lib/deadline.ts";
import { isRecord } from "../../lib/record.ts";
import { maxDepth } from "./depth.ts";
import type { Turn } from "../turns.ts";
import type { MessageAudience } from "./message-audience.ts";
import { droppedMessage, isDroppable } from "./message-budget.ts";
import type { MessageBudget } from "./message-budget.ts";
import type { RpcMessage } from "./messages.ts";
import type { Cleaner, Requests, Waiting } from "./requests.ts";
import { exactId, withExactId } from "../../lib/exact-json.ts";

/** What a server asks us. */
export interface Question {
  method: string;
  /** Whole, unknown fields included. */
  params: Record<string, unknown>;
  /** Aborted when the answer no longer matters. */
  signal: AbortSignal;
  /**
   * To be called by whoever cannot tell whether an answer will ever come: other exclusive requests have their turn
   * meanwhile. The server gets the answer when nothing else is under way.
   */
  stepAside?: (() => void) | undefined;
}

/** Whoever hears what the server says during a request. */
export interface Listener {
  /** Whoever answers, and for which caller: requests that agree in both have the same person behind them. */
  answeredBy?: object | undefined;
  caller?: string | undefined;
  /**
   * A question that belongs to another request must not be answered here, not even to one of the same person. Where the
   * transport cannot tell, the question is declined, and from then on such requests of one caller take turns.
   */
  exclusive?: boolean | undefined;
  /** The turn of an exclusive request. */
  turn?: Turn | undefined;
  /** Answers a question. Throw a `Refusal` for a JSON-RPC error of your choice. */
  onQuestion?: ((question: Question) => Promise<Record<string, unknown>>) | undefined;
  /** Called for each notification that the server sends during the request. */
  onNotification?: ((method: string, params: Record<string, unknown>) => void) | undefined;
}

/** Whoever answers while no request is under way, and hears every notification. */
export interface Otherwise extends Omit<Listener, "onNotification"> {
  /** The only caller of the connection, whose everything is that it says. */
  owner?: string | undefined;
  /** How much the server may say, over all of its connections. */
  budget?: MessageBudget | undefined;
  onNotification?: ((method: string, params: Record<string, unknown>, heard?: Heard) => void) | undefined;
}

/** What is known about a notification, for those who pass it on. */
export interface Heard {
  /** True if a request has heard it, too. */
  isOfRequest: boolean;
  audience: MessageAudience;
  /** Its parameters without what is secret. */
  shown(): Record<string, unknown>;
}

interface OpenQuestion {
  abort: AbortController;
  /** The server itself no longer wants an answer. */
  isWithdrawn: boolean;
  /** The turn that others have as long as this is open. */
  aside?: Turn | undefined;
}

export interface InboundSettings {
  requests: Requests;
  redaction?: Cleaner | undefined;
  /** Whoever answers when no request is under way, and hears every notification. */
  otherwise: Otherwise;
  send(message: RpcMessage): void | Promise<void>;
  /** A question came and the transport could not tell during which request. */
  onUntold?: (() => void) | undefined;
}

/** A server may count as far as it likes. */
type QuestionId = string | number | bigint;
type QuestionAnswer =
  | { result: Record<string, unknown> }
  | { error: { code: number; message: string; data?: unknown } };

function isId(id: unknown): id is QuestionId {
  return typeof id === "string" || typeof id === "number" || typeof id === "bigint";
}

const maxQuestions = 64;
/** After how long it is told how many messages were dropped. */
const tellMs = 1_000;
/** Where it cannot be told which request a question belongs to, all of a connection count together. */
const maxUntold = 256;
const tooMany = "Too many questions at once";

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
  /** Open questions that came with no request. */
  #untold = 0;
  /** Messages that were dropped since that was last told. */
  #dropped = 0;
  #telling: NodeJS.Timeout | undefined;

  constructor(settings: InboundSettings) {
    this.#settings = settings;
  }

  receive(message: Record<string, unknown>, during: string | undefined): void {
    const { method } = message;
    const id = exactId(message, "id");
    const params = isRecord(message["params"]) ? message["params"] : {};
    if (typeof method !== "string") this.ignored++;
    else if (id === undefined) this.#hear(method, params, during);
    else void this.#answer(id, method, params, during ?? this.#waitingForTask(params));
  }

  /** The request that waits for the task which a question says it belongs to. */
  #waitingForTask({ _meta: meta }: Record<string, unknown>): string | undefined {
    const task = isRecord(meta) ? meta["io.modelcontextprotocol/related-task"] : undefined;
    const taskId = isRecord(task) ? task["taskId"] : undefined;
    if (typeof taskId !== "string") return undefined;
    for (const { id, options } of this.#settings.requests.underWay())
      if (options.waitsForTask === taskId) return id;
    return undefined;
  }

  /** Refuses a question that is nested too deeply. */
  refuseDeep(id: unknown): void {
    const error = { code: -32_602, message: `Nested deeper than ${maxDepth} levels` };
    if (this.mayAsk && isId(id)) void this.#respond(id, { error });
    else this.ignored++;
  }

  /** Nothing more is coming. */
  close(error: PlugboardError): void {
    this.#tellDropped();
    for (const question of this.#questions.values()) {
      question.isWithdrawn = true;
      question.abort.abort(error);
    }
    this.#questions.clear();
  }

  #hear(method: string, params: Record<string, unknown>, during: string | undefined): void {
    const withdrawn =
      method === "notifications/cancelled" ? this.#questions.get(exactId(params, "requestId")) : undefined;
    if (withdrawn) {
      withdrawn.isWithdrawn = true;
      withdrawn.abort.abort();
    }
    const { requests, otherwise, redaction } = this.#settings;
    if (otherwise.budget && isDroppable(method) && !otherwise.budget.takes()) return this.#drop();
    const belongsTo = during ?? subscriptionOf(params);
    const isTold = belongsTo !== undefined;
    const waiting = isTold ? requests.get(belongsTo) : onlyOne(requests);
    const shown = () => redaction?.value(params) ?? params;
    const { onNotification, isStanding, onQuestion, caller } = waiting?.options ?? {};
    onNotification?.(method, shown());
    const isOfRequest = onNotification !== undefined && !isStanding;
    // Requests of the hub's own, such as lists, have nobody behind them.
    const request = isTold && onQuestion ? { caller } : undefined;
    const audience = requests.audience.of({ method, params, owner: otherwise.owner, request });
    otherwise.onNotification?.(method, params, { isOfRequest, audience, shown });
    if (method === "notifications/cancelled") requests.endStanding(params["requestId"]);
  }

  #drop(): void {
    this.#dropped++;
    this.#telling ??= setTimeout(() => this.#tellDropped(), tellMs).unref();
  }

  /** Once for all that was dropped meanwhile, and only to those who can have missed something of their own. */
  #tellDropped(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    if (this.#dropped === 0) return;
    const { requests, otherwise } = this.#settings;
    const params = droppedMessage(this.#dropped);
    this.#dropped = 0;
    const audience = requests.audience.ofAnything(otherwise.owner);
    const heard = { isOfRequest: false, audience, shown: () => params };
    otherwise.onNotification?.("notifications/message", params, heard);
  }

  async #answer(
    id: unknown,
    method: string,
    params: Record<string, unknown>,
    during: string | undefined,
  ): Promise<void> {
    if (!this.mayAsk || !isId(id)) {
      this.ignored++;
      return;
    }
    if (method === "ping") return this.#respond(id, { result: {} });
    if (this.#hasTooMany(during) || this.#questions.has(id)) {
      const error = { code: -32_000, message: tooMany };
      return this.#respond(id, { error });
    }
    const abort = new AbortController();
    const question: OpenQuestion = { abort, isWithdrawn: false };
    if (during === undefined) this.#untold++;
    this.#questions.set(id, question);
    const releases: (() => void)[] = [];
    let hasEnded = false;
    let asked: Waiting[] = [];
    let turn: Turn | undefined;
    try {
      const whom = this.#whom(during);
      const { listener } = whom;
      asked = whom.asked;
      if (asked.length > 0) this.#settings.requests.audience.sentToPage(params, listener.caller);
      const { onQuestion } = listener;
      if (!onQuestion) throw new Refusal(-32_601, "Method not found");
      if (asked.some(({ questions }) => questions >= maxQuestions)) throw new Refusal(-32_000, tooMany);
      const open = new Set(asked);
      for (const waiting of asked) {
        releases.push(this.#settings.requests.hold(waiting));
        // A question without the request that it belongs to is nobody's any more.
        (waiting.onEnd ??= []).push(() => {
          if (!open.delete(waiting) || open.size > 0) return;
          hasEnded = true;
          abort.abort();
        });
      }
      using deadline = startDeadline(questionMs);
      const signal = AbortSignal.any([abort.signal, deadline.signal]);
      // Over HTTP each request has a stream, and needs no turn.
      if (during === undefined) turn = asked[0]?.options.turn;
      const stepAside = turn && (() => (question.aside = turn)?.stepAside());
      const result = await untilAborted(onQuestion({ method, params, signal, stepAside }), signal);
      await turn?.back();
      if (!abort.signal.aborted) await this.#respond(id, { result });
    } catch (error) {
      // A server that was told of other roots asks by itself, and only once, whichever request is under way then.
      if (hasEnded && during === undefined && method === "roots/list" && !question.isWithdrawn)
        return await this.#askOtherwise(id, question, method, params);
      const failure = error instanceof Refusal ? error : abort.signal.aborted ? isOver : internal;
      // Whoever answered made a mistake, so that one's call fails; the server cannot mend it.
      const [own, ...others] = asked;
      if (own && others.length === 0 && isPlugboardError(error, "usage-invalid"))
        this.#settings.requests.giveUp(own, error, "The request was cancelled.");
      await turn?.back();
      // Whoever uses the server might have known; with a connection for each of them it will be clear who that is.
      if (during === undefined && !own && error instanceof Refusal) this.#settings.onUntold?.();
      if (!question.isWithdrawn) await this.#respond(id, { error: asRpcError(failure) });
    } finally {
      for (const release of releases) release();
      if (during === undefined) this.#untold--;
      this.#questions.delete(id);
      // The server goes on only when it has the other answers, too.
      for (const other of this.#questions.values()) if (turn && other.aside === turn) turn.stepAside();
    }
  }

  /** Asks whoever answers while no request is under way. */
  async #askOtherwise(
    id: QuestionId,
    question: OpenQuestion,
    method: string,
    params: Record<string, unknown>,
  ): Promise<void> {
    question.abort = new AbortController();
    using deadline = startDeadline(questionMs);
    const signal = AbortSignal.any([question.abort.signal, deadline.signal]);
    try {
      const { onQuestion } = this.#settings.otherwise;
      if (!onQuestion) throw new Refusal(-32_601, "Method not found");
      const result = await untilAborted(onQuestion({ method, params, signal }), signal);
      await this.#respond(id, { result });
    } catch (error) {
      const failure = error instanceof Refusal ? error : signal.aborted ? isOver : internal;
      if (!question.isWithdrawn) await this.#respond(id, { error: asRpcError(failure) });
    }
  }

  /** Counted for each request, so that the questions of one person do not keep others from being asked. */
  #hasTooMany(during: string | undefined): boolean {
    if (during === undefined) return this.#untold >= maxUntold;
    return (this.#settings.requests.get(during)?.questions ?? 0) >= maxQuestions;
  }

  /** Who is asked, and the requests that the question belongs to. Throws when that cannot be told. */
  #whom(during: string | undefined): { listener: Omit<Listener, "onNotification">; asked: Waiting[] } {
    const { requests, otherwise, onUntold } = this.#settings;
    if (during !== undefined) {
      const waiting = requests.get(during);
      if (!waiting) throw new Refusal(isOver.code, isOver.message);
      return { listener: waiting.options.onQuestion ? waiting.options : otherwise, asked: [waiting] };
    }
    // Requests of the hub's own, such as lists, have nobody behind them.
    const asked = [...requests.underWay()].filter(({ options }) => options.onQuestion !== undefined);
    if (asked.length > 0) onUntold?.();
    const isExclusive = asked.some(({ options }) => options.exclusive);
    const able = isExclusive ? withTheirTurn(asked.filter(({ method }) => mayAskDuring(method))) : asked;
    // Of one person's requests the newest has the handler that is up to date.
    const listener = able.at(-1)?.options ?? otherwise;
    const isUnclear =
      asked.some(({ options }) => !isSamePerson(options, listener)) ||
      requests.givenUp().some((one) => one.onQuestion !== undefined && !mayBeSamePerson(one, listener));
    if (isUnclear)
      throw new Refusal(-32_000, "Several people are using this server; it cannot be told whom to ask");
    if (isExclusive && (able.length > 1 || requests.givenUpUnread(justNowMs).some((one) => one.exclusive)))
      throw new Refusal(
        -32_000,
        "Several requests are under way; it cannot be told which one this belongs to",
      );
    return { listener, asked: able };
  }

  async #respond(id: QuestionId, answer: QuestionAnswer): Promise<void> {
    try {
      await this.#settings.send(withExactId({ jsonrpc: "2.0", ...answer } as const, id));
    } catch {
      // The transport tells whoever has to know.
    }
  }
}

/** A server that waits for an answer to one request is busy with another one that has its turn. */
function withTheirTurn(requests: Waiting[]): Waiting[] {
  const active = requests.filter(({ options }) => options.turn?.isAside !== true);
  return active.length > 0 ? active : requests;
}

/** False for requests during which no server asks anything. */
export function mayAskDuring(method: string): boolean {
  return !neverAsk.has(method);
}

const neverAsk = new Set([
  "tasks/get",
  "tasks/update",
  "tasks/cancel",
  "completion/complete",
  "logging/setLevel",
  "prompts/list",
  "resources/list",
  "resources/subscribe",
  "resources/templates/list",
  "resources/unsubscribe",
  "tools/list",
]);
/** A server may have asked just before it read that a request was given up. */
const justNowMs = 2_000;

const isOver = { code: -32_000, message: "The request that this belongs to is over" };
const internal = { code: -32_603, message: "Internal error" };

function asRpcError({ code, message, data }: { code: number; message: string; data?: unknown }) {
  return { code, message, ...(data !== undefined && { data }) };
}

type Person = Pick<Listener, "caller" | "answeredBy">;

/** A caller's name says who it is; without one, only the same object certainly answers for the same person. */
function isSamePerson(one: Person, other: Person): boolean {
  if (one.caller !== undefined || other.caller !== undefined) return one.caller === other.caller;
  return one.answeredBy === other.answeredBy;
}

/** The same for requests that are over: functions made for one call say nothing about who made them. */
function mayBeSamePerson(one: Person, other: Person): boolean {
  const isMadeForCall = typeof one.answeredBy === "function" || typeof other.answeredBy === "function";
  const isNameless = one.caller === undefined && other.caller === undefined;
  return isSamePerson(one, other) || (isNameless && isMadeForCall);
}

/** The request that a modern notification belongs to, where the transport cannot tell. */
function subscriptionOf({ _meta: meta }: Record<string, unknown>): string | undefined {
  const id = isRecord(meta) ? meta["io.modelcontextprotocol/subscriptionId"] : undefined;
  return typeof id === "string" ? id : undefined;
}

/** The only request under way, where no other caller may be meant: one whose request has ended, or whose work goes on. */
function onlyOne(requests: Requests): Waiting | undefined {
  if (!requests.audience.hasOneUser) return undefined;
  const [first, second] = requests.underWay();
  return second === undefined ? first : undefined;
}
