import { checkScript } from "./check-script.ts";
import { createExchange, type Incoming } from "./exchange.ts";
import type { Outlet } from "./outlet.ts";
import {
  type Era,
  isAnswer,
  isFields,
  paramsOf,
  type RequestId,
  requestId,
  SUBSCRIPTION_KEY,
} from "./protocol.ts";
import type { Fields, Rule, Script, Step, When } from "./script.ts";
import { runSteps } from "./steps.ts";

/** A place where notifications go that belong to no request. */
export interface Stream {
  scope: string;
  era: Era;
  push(message: Fields): Promise<void>;
  /** Modern: which changes were asked for, and under which id. */
  subscription?: { id: RequestId; filter: Fields };
}

interface Waiter {
  when: When;
  nth: number;
  go: () => void;
}

/** The memory of a fake server, the same for every transport: its script, what it has seen, who waits for what. */
export class FakeServer {
  script: Script;
  readonly streams = new Set<Stream>();
  /** `tools/call` by tool, whatever became of them. */
  readonly calls = new Map<string, number>();
  readonly cancelled: RequestId[] = [];
  /** Legacy `resources/subscribe`, as "scope uri". */
  readonly subscribed = new Set<string>();
  #counts = new Map<When, number>();
  #waiters: Waiter[] = [];
  #inFlight = new Map<string, AbortController>();
  #questions = new Map<RequestId, (answer: Fields) => void>();
  #asked = 0;

  constructor(script: Script) {
    checkScript(script);
    this.script = script;
    this.#countAnew();
  }

  set(change: Partial<Script>): void {
    checkScript(change);
    this.script = { ...this.script, ...change };
    if (change.on !== undefined) this.#countAnew();
  }

  /** Forgets what a restarted process would not know; `calls` and `cancelled` stay for the test to read. */
  forget(): void {
    for (const controller of this.#inFlight.values()) controller.abort();
    this.#inFlight.clear();
    this.#questions.clear();
    this.streams.clear();
    this.subscribed.clear();
  }

  start(outlet: Outlet): Promise<boolean> {
    return runSteps(this.script.start ?? [], createExchange(this, {}, outlet, new AbortController().signal));
  }

  async receive(incoming: Incoming, outlet: Outlet): Promise<void> {
    const { message } = incoming;
    if (isAnswer(message)) {
      this.#questions.get(message?.["id"] as RequestId)?.(message as Fields);
      outlet.finish();
      return;
    }
    const params = paramsOf(message);
    if (message?.["method"] === "tools/call") {
      this.calls.set(String(params["name"]), (this.calls.get(String(params["name"])) ?? 0) + 1);
    }
    if (message?.["method"] === "notifications/cancelled") {
      this.cancel(outlet.scope, params["requestId"] as RequestId);
    }
    const id = requestId(message);
    const controller = new AbortController();
    const key = `${outlet.scope} ${JSON.stringify(id)}`;
    if (id !== undefined) this.#inFlight.set(key, controller);
    const steps: Step[] = this.#ruleFor(incoming)?.do ?? [{ default: true }];
    await runSteps(steps, createExchange(this, incoming, outlet, controller.signal));
    if (this.#inFlight.get(key) === controller) this.#inFlight.delete(key);
  }

  cancel(scope: string, id: RequestId): void {
    this.cancelled.push(id);
    const mine = (stream: Stream): boolean => stream.scope === scope && stream.subscription?.id === id;
    for (const stream of this.streams) if (mine(stream)) this.streams.delete(stream);
    this.#inFlight.get(`${scope} ${JSON.stringify(id)}`)?.abort();
  }

  /** A fresh id for a question to the client, and its answer once it comes. */
  question(): { id: string; answer: Promise<Fields> } {
    const id = `fake-${++this.#asked}`;
    const answer = new Promise<Fields>((resolve) => this.#questions.set(id, resolve));
    return { id, answer: answer.finally(() => this.#questions.delete(id)) };
  }

  /** Resolves with the next matching message, or when the nth has been seen. */
  seen(when: When & { nth?: number }): Promise<void> {
    const count = this.#counts.get(when) ?? 0;
    const nth = when.nth ?? count + 1;
    if (count >= nth) return Promise.resolve();
    return new Promise((go) => this.#waiters.push({ when, nth, go }));
  }

  /** Sends a change to whoever may hear of it: all legacy streams, and the modern ones that asked. */
  async broadcast(notification: { method: string; params?: Fields }): Promise<void> {
    for (const stream of this.streams) {
      const uri = notification.params?.["uri"];
      if (stream.subscription !== undefined) {
        if (!wants(stream.subscription.filter, notification.method, uri)) continue;
        const meta = notification.params?.["_meta"];
        const stamped = { ...(isFields(meta) && meta), [SUBSCRIPTION_KEY]: stream.subscription.id };
        await stream.push({ ...notification, params: { ...notification.params, _meta: stamped } });
      } else if (typeof uri !== "string" || this.subscribed.has(`${stream.scope} ${uri}`)) {
        await stream.push(notification);
      }
    }
  }

  #ruleFor(incoming: Incoming): Rule | undefined {
    for (const [when, count] of this.#counts) if (matches(when, incoming)) this.#counts.set(when, count + 1);
    this.#waiters = this.#waiters.filter(({ when, nth, go }) => {
      const reached = (this.#counts.get(when) ?? 0) >= nth;
      if (reached) go();
      return !reached;
    });
    return this.script.on?.find(
      ({ when }) => matches(when, incoming) && isTurn(when, this.#counts.get(when) ?? 0),
    );
  }

  #countAnew(): void {
    const waits = (steps: Step[]): When[] =>
      steps.flatMap((step) => ("waitFor" in step ? [step.waitFor] : []));
    const rules = this.script.on ?? [];
    this.#counts = new Map(
      [...waits(this.script.start ?? []), ...rules.flatMap((rule) => [rule.when, ...waits(rule.do)])].map(
        (when) => [when, 0],
      ),
    );
  }
}

function matches(when: When, { message, http }: Incoming): boolean {
  const params = paramsOf(message);
  return (
    (when.method === undefined || when.method === message?.["method"]) &&
    (when.tool === undefined || (message?.["method"] === "tools/call" && when.tool === params["name"])) &&
    (when.http === undefined || when.http === http?.verb) &&
    (when.path === undefined || when.path === http?.path)
  );
}

function isTurn(when: When, count: number): boolean {
  const { nth } = when;
  const turn = nth === undefined || (Array.isArray(nth) ? nth.includes(count) : nth === count);
  return turn && count >= (when.from ?? 0);
}

function wants(filter: Fields, method: string, uri: unknown): boolean {
  const uris = filter["resourceSubscriptions"];
  if (method === "notifications/resources/updated") return Array.isArray(uris) && uris.includes(uri);
  return filter[`${method.split("/")[1] ?? ""}ListChanged`] === true;
}
