import { setTimeout as sleep } from "node:timers/promises";
import { PlugboardError } from "../errors.ts";
import type { LogLevel } from "../events.ts";
import { defined, isRecord } from "../lib/record.ts";
import type { Greeting } from "./greeting.ts";
import type { KeptSession } from "./process/running-program.ts";
import type { Redaction } from "./redaction.ts";
import { modernEnvelope, withTasks } from "./rpc/envelope.ts";
import type { Capabilities } from "./rpc/envelope.ts";
import type { JsonRpcAnswer, RawAnswer } from "./rpc/messages.ts";
import type { RequestOptions } from "./rpc/requests.ts";
import type { Rpc } from "./rpc/rpc.ts";
import { takesSandboxMeta, withoutSandboxMeta } from "./sandbox-state.ts";
import type { TargetIdentity } from "./target-identity.ts";
import type { Transport, TransportFacts, TransportKind } from "./transports/transport.ts";

/** What is known about a connection that is open. */
export interface SessionFacts extends TransportFacts {
  transport: TransportKind;
}

export interface SessionOptions {
  server: string;
  transport: Transport;
  rpc: Rpc;
  greeting: Greeting;
  capabilities: Capabilities;
  redaction: Redaction;
  used: { readonly identity: TargetIdentity };
  onLost(error: PlugboardError): void;
}

export type SessionRequest = RequestOptions & {
  /** The capabilities of whoever asks, where they differ from the hub's. */
  capabilities?: Capabilities | undefined;
  /** Which log messages a modern server sends during the request; a legacy one has one level for all. */
  logLevel?: LogLevel | undefined;
  /** Does not count as a use that keeps the server from being stopped. */
  isUpkeep?: boolean | undefined;
  check?: SessionCheck | undefined;
  /** Fails if it would go to anything else than this. */
  onlyAt?: TargetIdentity | undefined;
  /**
   * A modern server may answer with a task. With `required` a legacy one is asked for a task, if it has any: its tool
   * cannot be called otherwise.
   */
  task?: "accepted" | "required" | undefined;
};

/** What a request depends on may be different in another session, so it is checked again before it is sent there. */
export interface SessionCheck {
  /** The number of the session that the request was checked for. */
  readonly session: number | undefined;
  /** True if the configuration is another one since then: it may not be sent any more. */
  readonly isStale: boolean;
  /** What the request was checked for; undefined if that does not matter. */
  readonly target: TargetIdentity | undefined;
  /** Throws if the request must not be sent over the session that is current now, which leads to `target`. */
  again(target: TargetIdentity): Promise<void>;
  /** Reads anew what the request depends on, then does the same. */
  reread(): Promise<void>;
}

const logLevelKey = "io.modelcontextprotocol/logLevel";
/** How long a legacy server is asked to keep a task. */
const taskMs = 86_400_000;

/** One connection while it lasts: greeted, usable, and over exactly once. */
export class Session {
  readonly greeting: Greeting;
  readonly rpc: Rpc;
  /** Whether it was of any use. */
  hasAnswered = false;
  /** How many requests in a row got no answer in time. */
  timeouts = 0;
  /** Why it is over. */
  lost: PlugboardError | undefined;
  readonly #transport: Transport;
  readonly #server: string;
  /** What the server was told that somebody here can do. */
  readonly capabilities: Capabilities;
  readonly #takesSandboxMeta: boolean;
  readonly #redaction: Redaction;
  readonly #onLost: (error: PlugboardError) => void;
  readonly #used: SessionOptions["used"];
  #closing: Promise<void> | undefined;
  #envelope:
    | { capabilities: Capabilities; task: SessionRequest["task"]; envelope: Record<string, unknown> }
    | undefined;

  constructor(options: SessionOptions) {
    this.#server = options.server;
    this.#transport = options.transport;
    this.capabilities = options.capabilities;
    this.#redaction = options.redaction;
    this.#onLost = options.onLost;
    this.#used = options.used;
    this.greeting = options.greeting;
    this.#takesSandboxMeta = takesSandboxMeta(options.greeting.capabilities);
    this.rpc = options.rpc;
    this.rpc.inbound.mayAsk = options.greeting.era === "legacy";
  }

  /** The server's own result, untouched; its errors, without what is secret. */
  request(
    method: string,
    params: Record<string, unknown>,
    options: SessionRequest & { raw: true },
  ): Promise<JsonRpcAnswer | RawAnswer>;
  request(method: string, params: Record<string, unknown>, options: SessionRequest): Promise<JsonRpcAnswer>;
  request(
    method: string,
    params: Record<string, unknown>,
    options: SessionRequest,
  ): Promise<JsonRpcAnswer | RawAnswer> {
    const { logLevel } = options;
    const known = this.greeting.era === "modern" ? this.#envelopeFor(options) : undefined;
    const envelope = known && logLevel ? { ...known, [logLevelKey]: logLevel } : known;
    if (options.trace) {
      options.trace.isModern = envelope !== undefined;
      options.trace.target = this.#used.identity;
    }
    const asTask = options.task === "required" && !envelope && hasLegacyTasks(this.greeting);
    const meant = this.#takesSandboxMeta ? params : withoutSandboxMeta(params);
    const sent = asTask ? { ...meant, task: { ttl: taskMs } } : meant;
    const answer = this.rpc.requests.request(method, sent, options, envelope);
    return method === "tasks/get" ? answer.then((state) => this.#withoutSecrets(state)) : answer;
  }

  /** The error of a task comes inside of a result. */
  #withoutSecrets(answer: JsonRpcAnswer | RawAnswer): JsonRpcAnswer | RawAnswer {
    if (!("result" in answer)) return answer;
    const { error, statusMessage } = answer.result;
    if (error === undefined && statusMessage === undefined) return answer;
    return { result: { ...answer.result, ...this.#redaction.value(defined({ error, statusMessage })) } };
  }

  /** What every modern request carries; mostly the same as for the one before. */
  #envelopeFor({ capabilities = this.capabilities, task }: SessionRequest): Record<string, unknown> {
    if (this.#envelope?.capabilities !== capabilities || this.#envelope.task !== task) {
      const declared = task ? withTasks(capabilities) : capabilities;
      this.#envelope = { capabilities, task, envelope: modernEnvelope(declared) };
    }
    return this.#envelope.envelope;
  }

  /** What runs or is contacted. */
  get identity(): TargetIdentity {
    return this.#used.identity;
  }

  /** A text without this server's secrets. */
  redact(text: string): string {
    return this.#redaction.text(text);
  }

  /** Asks for change notifications; open as long as the connection lasts, and no call in flight. */
  listen(
    notifications: Record<string, unknown>,
    signal: AbortSignal,
    onNotification: (method: string, params: Record<string, unknown>) => void,
  ): Promise<JsonRpcAnswer> {
    const forever = {
      timeoutMs: Infinity,
      maxTimeoutMs: Infinity,
      signal,
      isStanding: true,
      onNotification,
    };
    return this.request("subscriptions/listen", { notifications }, forever);
  }

  /** A caller uses it beside its requests, so messages of unknown origin may be about that one. */
  usedBy(caller: string | undefined): void {
    this.rpc.requests.audience.usedBy(caller);
  }

  get inFlight(): number {
    return this.rpc.requests.inFlight;
  }

  notify(method: string, params: Record<string, unknown>): Promise<void> {
    return this.rpc.notify(method, params);
  }

  get facts(): SessionFacts {
    return { transport: this.#transport.kind, ...this.#transport.facts };
  }

  /** Resolves when no call is on its way any more, or it is over. */
  async quiet(): Promise<void> {
    while (this.inFlight > 0 && !this.lost) await sleep(50, undefined, { ref: false });
  }

  /** Ends it on purpose: nobody is told that it was lost. With `mayStay`, its program may wait for another command. */
  close(mayStay = false): Promise<void> {
    this.#closing ??= this.#close(mayStay);
    return this.#closing;
  }

  /** The transport has ended by itself. */
  end(cause: PlugboardError): void {
    if (this.lost) return;
    this.lost = this.#redaction.error(cause) as PlugboardError;
    this.#onLost(this.lost);
  }

  async #close(mayStay: boolean): Promise<void> {
    const isHealthy = !this.lost;
    this.lost ??= new PlugboardError("connection-lost", `The connection to "${this.#server}" was closed.`, {
      server: this.#server,
    });
    await this.#transport.close(mayStay && isHealthy ? this.#toKeep() : undefined);
  }

  /** What another command needs to go on with this session. */
  #toKeep(): KeptSession {
    const { greeting, capabilities } = this;
    const fence =
      greeting.era === "modern"
        ? { method: "server/discover", params: { _meta: modernEnvelope(capabilities) } }
        : { method: "ping", params: {} };
    return { greeting: { ...greeting }, issued: this.rpc.requests.issued, fence };
  }
}

/** The experimental tasks of 2025-11-25, for calls of tools. */
export function hasLegacyTasks({ era, capabilities: { tasks } }: Greeting): boolean {
  const requests = era === "legacy" && isRecord(tasks) ? tasks["requests"] : undefined;
  const tools = isRecord(requests) ? requests["tools"] : undefined;
  return isRecord(tools) && isRecord(tools["call"]);
}
