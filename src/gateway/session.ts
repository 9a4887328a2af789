import { legacyRevisions } from "../host.ts";
import { Refusal } from "../index.ts";
import type { Capabilities, LogLevel } from "../host.ts";
import { isRecord } from "../lib/record.ts";
import { TransientMap } from "../lib/transient.ts";
import { serverInfo } from "./endpoint.ts";
import type { ChangedKind, Endpoint } from "./endpoint.ts";
import { tracedPeer } from "./exchange.ts";
import type {
  Answer,
  AnsweredOutlet,
  Client,
  ClientQuestion,
  ClientSession,
  Dispatcher,
  Exchange,
  Outlet,
} from "./exchange.ts";
import { invalidParams } from "./failure.ts";
import { isForClient } from "./notifications.ts";
import type { LogLevels } from "./log-levels.ts";
import { cancelledId } from "./message.ts";
import type { ClientAnswer, ClientMessage, ClientNotification, ClientRequest } from "./message.ts";
import { OpenExchange, notificationText } from "./open-exchange.ts";
import { isSameSent } from "./passed-headers.ts";
import type { SentHeaders } from "./passed-headers.ts";
import { hasLegacyTasks, legacyTasks } from "./tasks/protocols.ts";
import { stringifyExact } from "../lib/exact-json.ts";

export interface SessionSettings extends Pick<
  Client,
  "endpoint" | "caller" | "sent" | "transport" | "sessionId"
> {
  dispatcher: Dispatcher;
  logLevels: LogLevels;
  /** Where what belongs to no request goes. */
  outlet: Outlet;
}

interface AskedQuestion {
  resolve(result: Record<string, unknown>): void;
  reject(error: Error): void;
}

/** What of the servers is told a session by itself. */
interface Listening {
  sent: SentHeaders | undefined;
  stop(): void;
}

/** A legacy client from `initialize` until it ends, over whatever transport. */
export class LegacySession implements Client, ClientSession {
  readonly era = "legacy";
  readonly revision: string;
  readonly caller: string;
  readonly endpoint: Endpoint;
  readonly transport: Client["transport"];
  readonly sessionId: string | undefined;
  readonly capabilities: Capabilities;
  readonly info: Record<string, unknown> | undefined;
  readonly subscriptions = new Map<string, () => void>();
  logLevel: LogLevel = "info";
  readonly #settings: SessionSettings;
  readonly #exchanges = new TransientMap<OpenExchange>();
  readonly #questions = new Map<string, AskedQuestion>();
  readonly #changed = new Set<ChangedKind>();
  readonly #stops: (() => void)[];
  #listening: Listening;
  #cannotAnswer = false;
  #asked = 0;
  #isGreeted = false;

  /** Throws -32602 if `initialize` says too little. */
  constructor({ params }: ClientRequest, settings: SessionSettings) {
    const { protocolVersion, capabilities, clientInfo } = params.value;
    if (typeof protocolVersion !== "string") throw invalidParams("`protocolVersion` must be a string.");
    this.revision = legacyRevisions.find((one) => one === protocolVersion) ?? legacyRevisions[0];
    this.capabilities = isRecord(capabilities) ? capabilities : {};
    this.info = isRecord(clientInfo) ? clientInfo : undefined;
    this.caller = settings.caller;
    this.endpoint = settings.endpoint;
    this.transport = settings.transport;
    this.sessionId = settings.sessionId;
    this.#settings = settings;
    this.#stops = [
      this.endpoint.roots.join(this),
      this.endpoint.onChange(this.caller, (kind) => this.#tellChange(kind)),
    ];
    this.#listening = this.#listen(settings.sent);
    const ended = settings.dispatcher.telemetry?.session("server", tracedPeer(this));
    if (ended) this.#stops.push(() => ended());
  }

  get session(): ClientSession {
    return this;
  }

  /** The answer to `initialize`. */
  greet({ id, method, params }: ClientRequest): Promise<Answer> {
    const answer = async () => ({ result: await this.#greeting() });
    const { telemetry } = this.#settings.dispatcher;
    const request = { id, method, params: params.value, peer: tracedPeer(this) };
    return telemetry ? telemetry.served(request, answer) : answer();
  }

  async #greeting(): Promise<Record<string, unknown>> {
    const { capabilities, ...about } = await this.endpoint.describe();
    const own = { ...capabilities, ...(hasLegacyTasks(this) && legacyTasks) };
    this.#isGreeted = true;
    return { protocolVersion: this.revision, serverInfo, capabilities: own, ...about };
  }

  #listen(sent: SentHeaders | undefined): Listening {
    const view = this.endpoint.view({ caller: this.caller, sent });
    const stop = view.onNotification(({ method, params: said, isOfRequest }) => {
      // What belongs to a request is told on its own stream.
      if (!isOfRequest && isForClient(this, method, said)) this.#send(this.endpoint.textOf(method, said));
    });
    return { sent, stop };
  }

  /** The client as the sender of what this HTTP request holds, which may send other headers along than the one before. */
  #sender(outlet: Outlet): Client {
    const sent = this.endpoint.sent(outlet.header && ((name) => outlet.header?.(name)));
    if (!isSameSent(sent, this.#listening.sent)) {
      this.#listening.stop();
      this.#listening = this.#listen(sent);
    }
    return sent ? new SessionClient(this, sent) : this;
  }

  /** Requests that are not answered yet. */
  get inFlight(): number {
    return this.#exchanges.size;
  }

  /** Takes a message. Resolves when a request is answered; undefined for everything else, which is done at once. */
  receive(message: ClientMessage, outlet: AnsweredOutlet): Promise<void> | undefined {
    if (message.kind === "request") return this.#answer(message, outlet);
    if (message.kind === "answer") this.#take(message);
    else if (message.method === "notifications/cancelled") this.#cancel(message);
    else this.#settings.dispatcher.hear(this.#sender(outlet), message.method, message.params);
    return undefined;
  }

  ask(
    { method, params, signal }: ClientQuestion,
    during: Exchange | undefined,
  ): Promise<Record<string, unknown>> {
    if (this.#cannotAnswer) return Promise.reject(clientGone());
    const outlet = during?.outlet ?? this.#settings.outlet;
    const id = `q${++this.#asked}`;
    const idText = JSON.stringify(id);
    return new Promise((resolve, reject) => {
      const withdraw = () => {
        if (!this.#questions.delete(idText)) return;
        outlet.send(
          notificationText("notifications/cancelled", { requestId: id, reason: "No longer needed" }),
        );
        reject(new Refusal(-32_000, "The question was withdrawn"));
      };
      signal.addEventListener("abort", withdraw, { once: true });
      const over = () => signal.removeEventListener("abort", withdraw);
      this.#questions.set(idText, {
        resolve: (result) => {
          over();
          resolve(result);
        },
        reject: (error) => {
          over();
          reject(error);
        },
      });
      outlet.send(stringifyExact({ jsonrpc: "2.0", id, method, params }));
    });
  }

  notify(method: string, params: Record<string, unknown>): void {
    this.#send(notificationText(method, params));
  }

  #send(text: string): void {
    // Nothing may come before the answer to `initialize`, and whoever lists after it misses nothing.
    if (this.#isGreeted) this.#settings.outlet.send(text);
  }

  async setLogLevel(level: LogLevel): Promise<void> {
    this.logLevel = level;
    await this.#settings.logLevels.want(this, level);
  }

  /** Nobody can answer any more: open questions fail, and later ones too. */
  endQuestions(): void {
    this.#cannotAnswer = true;
    for (const { reject } of this.#questions.values()) reject(clientGone());
    this.#questions.clear();
  }

  /** Ends everything that it holds. */
  close(): void {
    for (const stop of this.#stops) stop();
    this.#listening.stop();
    for (const stop of this.subscriptions.values()) stop();
    this.subscriptions.clear();
    for (const exchange of this.#exchanges.values()) exchange.cancel();
    this.endQuestions();
    void this.#settings.logLevels.forget(this);
  }

  #answer(message: ClientRequest, outlet: AnsweredOutlet): Promise<void> {
    const { idText } = message;
    const exchange = new OpenExchange(this.#sender(outlet), message, outlet);
    if (!this.#exchanges.add(idText, exchange)) {
      outlet.answer(idText, { error: { code: -32_600, message: "A request with this id is under way." } });
      return Promise.resolve();
    }
    const end = () => {
      exchange.end();
      this.#exchanges.delete(idText);
    };
    const fail = (error: unknown): never => {
      end();
      outlet.end?.();
      throw error;
    };
    try {
      return this.#settings.dispatcher.answer(exchange).then((answer) => {
        end();
        outlet.answer(idText, exchange.isCancelled ? undefined : answer);
      }, fail);
    } catch (error) {
      return Promise.reject(error as Error).catch(fail);
    }
  }

  #take({ idText, answer }: ClientAnswer): void {
    const question = this.#questions.get(idText);
    this.#questions.delete(idText);
    if ("result" in answer) question?.resolve(answer.result);
    else question?.reject(new Refusal(answer.error.code, answer.error.message, answer.error.data));
  }

  #cancel(message: ClientNotification): void {
    this.#exchanges.get(cancelledId(message))?.cancel();
  }

  /** Changes that come together are told once. */
  #tellChange(kind: ChangedKind): void {
    if (this.#changed.has(kind)) return;
    this.#changed.add(kind);
    setImmediate(() => {
      this.#changed.delete(kind);
      this.notify(`notifications/${kind}/list_changed`, {});
    });
  }
}

/** A session as one of its requests shows it. */
class SessionClient implements Client {
  readonly era = "legacy";
  readonly revision: string;
  readonly caller: string;
  readonly sent: SentHeaders;
  readonly endpoint: Endpoint;
  readonly transport: Client["transport"];
  readonly sessionId: string | undefined;
  readonly capabilities: Capabilities;
  readonly info: Record<string, unknown> | undefined;
  readonly session: LegacySession;

  constructor(session: LegacySession, sent: SentHeaders) {
    this.session = session;
    this.sent = sent;
    this.revision = session.revision;
    this.caller = session.caller;
    this.endpoint = session.endpoint;
    this.transport = session.transport;
    this.sessionId = session.sessionId;
    this.capabilities = session.capabilities;
    this.info = session.info;
  }

  get logLevel(): LogLevel {
    return this.session.logLevel;
  }

  ask(question: ClientQuestion, during: Exchange | undefined): Promise<Record<string, unknown>> {
    return this.session.ask(question, during);
  }
}

function clientGone(): Refusal {
  return new Refusal(-32_000, "The client is gone");
}
