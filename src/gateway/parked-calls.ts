import { randomUUID } from "node:crypto";
import { PlugboardError, Refusal } from "../index.ts";
import { isRecord } from "../lib/record.ts";
import type { Core } from "./core.ts";
import type { Answer, Client, ClientQuestion, Exchange } from "./exchange.ts";
import { failed, invalidParams } from "./failure.ts";
import type { Holding } from "./holding.ts";
import { answerBytes, keptAnswer, valueBytes } from "./result.ts";
import type { SendOptions } from "./forward.ts";
import { assertDeclared, isDeclared } from "./questions.ts";
import { missingCapability, sealState } from "./required-input.ts";

/** A request of a modern client whose legacy server has asked something. */
interface ParkedCall {
  id: string;
  /** Its sender, as the latest request of it says. */
  client: Client;
  /** How often it was handed out. */
  round: number;
  /** Ends the request at the server. */
  abort: AbortController;
  /** Open questions by the key that the client answers them with. */
  questions: Map<string, OpenQuestion>;
  asked: number;
  outcome: Answer | undefined;
  /** The request of the client that waits now; none while the client is asking somebody. */
  waiting: { exchange: Exchange; answer(answer: Answer): void } | undefined;
  expiry: NodeJS.Timeout | undefined;
  gathering: NodeJS.Timeout | undefined;
  holding: Holding | undefined;
}

/** What a request that was sent has to know about its client. */
export interface Running {
  /** Why the server asked in vain: the client did not declare it, or too many of its calls wait. */
  notAsked(): Error | undefined;
  /** The request of the client that waits for the answer now. */
  exchange(): Exchange;
}

interface OpenQuestion extends Pick<ClientQuestion, "method" | "params" | "stepAside"> {
  resolve(result: Record<string, unknown>): void;
}

/** How long a client may take to come back with answers. The engine gives every question the same time. */
const handedOutMs = 600_000;
/** Questions that come within this time are handed out together: a server that asks several sends one after the other. */
const gatherMs = 30;

/**
 * The bridge from legacy servers to modern clients: a call whose server asks is parked, its client gets `input_required`
 * and comes back with the answers. Clients that gave up do not say so: the oldest calls that were handed out make room for new ones. See docs/decisions/0017.
 */
export class ParkedCalls {
  readonly #core: () => Core;
  readonly #calls = new Map<string, ParkedCall>();

  constructor(core: () => Core) {
    this.#core = core;
  }

  get size(): number {
    return this.#calls.size;
  }

  /**
   * Runs a request whose server may ask. Resolves with its answer, or with what the server wants to know. `send` never
   * rejects.
   */
  run(
    exchange: Exchange,
    send: (options: SendOptions, running: Running) => Promise<Answer>,
  ): Promise<Answer> {
    const abort = new AbortController();
    let call: ParkedCall | undefined;
    let notAsked: Error | undefined;
    return new Promise((resolve) => {
      const endWatch = exchange.onCancelled(() => abort.abort());
      const onQuestion = async (question: ClientQuestion) => {
        const client = call?.client ?? exchange.client;
        if (!isDeclared(client, question.method, question.params))
          notAsked = missingCapability(question.method);
        assertDeclared(client, question);
        if (!call) {
          call = this.#park(exchange, abort, resolve);
          if (!call) {
            notAsked = tooManyWait();
            throw new Refusal(-32_000, notAsked.message);
          }
          // From now on its own record says who waits for it.
          endWatch();
        }
        return this.#ask(call, question);
      };
      const running = { notAsked: () => notAsked, exchange: () => call?.waiting?.exchange ?? exchange };
      void send({ signal: abort.signal, onQuestion }, running).then((answer) => {
        endWatch();
        if (call) this.#settle(call, answer);
        else resolve(answer);
      });
    });
  }

  /** Goes on with a call that was handed out before. */
  resume({ id, round }: { id: string; round: number }, exchange: Exchange): Promise<Answer> {
    const call = this.#calls.get(id);
    if (!call || call.round !== round || call.client.caller !== exchange.client.caller)
      throw invalidParams("The request that this state belongs to is over.");
    const { inputResponses } = exchange.params.value;
    const given = isRecord(inputResponses) ? inputResponses : {};
    return new Promise((answer) => {
      this.#wait(call, exchange, answer);
      for (const [key, { resolve }] of call.questions) {
        const response = Object.hasOwn(given, key) ? given[key] : undefined;
        if (!isRecord(response)) continue;
        call.questions.delete(key);
        resolve(response);
      }
      if (call.outcome) this.#settle(call, call.outcome);
      else if (call.questions.size > 0) this.#handOut(call);
    });
  }

  close(): void {
    for (const call of this.#calls.values()) this.#end(call);
  }

  #park(
    exchange: Exchange,
    abort: AbortController,
    answer: (answer: Answer) => void,
  ): ParkedCall | undefined {
    const { client, params } = exchange;
    const call: ParkedCall = {
      id: randomUUID(),
      client,
      round: 0,
      abort,
      questions: new Map(),
      asked: 0,
      outcome: undefined,
      waiting: undefined,
      expiry: undefined,
      gathering: undefined,
      holding: undefined,
    };
    // While a request waits, its server may be asking: it would be in doubt which call it asks about.
    const held = { isBusy: () => call.waiting !== undefined, evict: () => this.#end(call) };
    call.holding = this.#core().ledger.hold(client.caller, "parked", held, params.heldBytes);
    if (!call.holding) return undefined;
    this.#calls.set(call.id, call);
    this.#wait(call, exchange, answer);
    return call;
  }

  /** The newest request waits; one that waited before is answered at once, because a call has one outcome. */
  #wait(call: ParkedCall, exchange: Exchange, answer: (answer: Answer) => void): void {
    clearTimeout(call.expiry);
    call.client = exchange.client;
    call.waiting?.answer(failed(invalidParams("Another request continues this call.")));
    const waiting = { exchange, answer };
    call.waiting = waiting;
    exchange.onCancelled(() => {
      if (call.waiting === waiting) this.#end(call);
    });
  }

  #ask(
    call: ParkedCall,
    { method, params, signal, stepAside }: ClientQuestion,
  ): Promise<Record<string, unknown>> {
    const key = `question-${++call.asked}`;
    return new Promise((resolve, reject) => {
      call.questions.set(key, { method, params, stepAside, resolve });
      call.holding?.grow(valueBytes(params));
      signal.addEventListener(
        "abort",
        () => {
          call.questions.delete(key);
          reject(signal.reason as Error);
        },
        { once: true },
      );
      call.gathering ??= setTimeout(() => {
        call.gathering = undefined;
        if (call.questions.size > 0) this.#handOut(call);
      }, gatherMs);
    });
  }

  #handOut(call: ParkedCall): void {
    const { waiting } = call;
    if (!waiting) return;
    call.waiting = undefined;
    call.round++;
    const inputRequests = Object.fromEntries(
      [...call.questions].map(([key, { method, params }]) => [key, { method, params }]),
    );
    const parked = { id: call.id, round: call.round };
    const requestState = sealState(waiting.exchange, this.#core(), { parked }, handedOutMs);
    call.expiry = setTimeout(() => this.#end(call), handedOutMs).unref();
    // A modern client does not say that it gives up.
    for (const { stepAside } of call.questions.values()) stepAside?.();
    waiting.answer({ result: { resultType: "input_required", inputRequests, requestState } });
  }

  #settle(call: ParkedCall, answer: Answer): void {
    const { waiting } = call;
    if (!waiting) {
      // The answer is kept until the client comes back or its time is over.
      call.outcome = keptAnswer(answer);
      call.holding?.grow(answerBytes(call.outcome));
      return;
    }
    call.waiting = undefined;
    this.#forget(call);
    waiting.answer(answer);
  }

  #end(call: ParkedCall): void {
    this.#forget(call);
    call.waiting?.answer(failed(invalidParams("The call was cancelled.")));
    call.waiting = undefined;
    call.abort.abort();
  }

  #forget(call: ParkedCall): void {
    clearTimeout(call.expiry);
    clearTimeout(call.gathering);
    call.holding?.release();
    this.#calls.delete(call.id);
  }
}

function tooManyWait(): Error {
  return new PlugboardError("rate-limited", "Too many of your calls wait for input.", {
    hint: "Answer or cancel some of them, and try again.",
    executed: "no",
  });
}
