import { PlugboardError } from "../../../errors.ts";
import { isRecord } from "../../../lib/record.ts";
import { readAnswer } from "../../rpc/messages.ts";
import type { RpcRequest } from "../../rpc/messages.ts";
import type { TransportEvents } from "../transport.ts";
import type { Authorization, Sending } from "./authorization.ts";
import { EventStreamParser, eventLimit, isMessageEvent } from "./event-stream.ts";
import type { Head, Receiver } from "./exchange.ts";
import { parseMessages } from "./incoming.ts";
import { isSessionError, sessionLost } from "./session-lost.ts";
import { statusError, tryParse } from "./status.ts";

export interface CallContext {
  authorization: Authorization;
  /** The headers of this request only. */
  headers?: Readonly<Record<string, string>> | undefined;
  events: TransportEvents;
  hadSession: boolean;
  /** Called with the head of a successful response before its body is read. If it throws, the call fails. */
  onSuccess?: ((head: Head) => void) | undefined;
  /** Legacy only: continues the stream after the call's last event. */
  resume: ((call: HttpCall) => void) | undefined;
  finished(id: string): void;
}

/** One request: a POST, its response (JSON, an event stream or an error status), and possibly a resumed stream. */
export class HttpCall implements Receiver {
  readonly request: RpcRequest;
  /** Where to resume the stream, and when. */
  lastEventId: string | undefined;
  retryMs: number | undefined;
  /** Failed attempts to resume since the last success, and successful ones that brought no event. */
  readonly resumes = { failed: 0, empty: 0 };
  isStopped = false;
  /** Cancels the current request, or the wait before the next one. */
  undo: (reason: unknown) => void = () => {};
  readonly headers: CallContext["headers"];
  readonly #context: CallContext;
  #sending: Sending | undefined;
  #head: Head | undefined;
  #chunks: Buffer[] = [];
  #parser: EventStreamParser | undefined;
  #isAnswered = false;

  constructor(request: RpcRequest, context: CallContext) {
    this.request = request;
    this.headers = context.headers;
    this.#context = context;
  }

  follow(sending: Sending): void {
    this.#sending = sending;
    this.undo = (reason) => sending.abort(reason);
  }

  get wasSent(): boolean {
    return this.#head !== undefined || this.#sending?.sent === true;
  }

  stop(reason: unknown): void {
    this.isStopped = true;
    this.undo(reason);
    this.#finish();
  }

  head(head: Head): void {
    this.#head = head;
    if (head.status !== 200) return;
    try {
      this.#context.onSuccess?.(head);
    } catch (error) {
      return this.undo(error);
    }
    if (head.type === "text/event-stream") this.#parser = this.#createParser();
  }

  data(chunk: Buffer): void {
    if (this.#parser) this.#parser.push(chunk);
    else this.#chunks.push(chunk);
  }

  end(): void {
    try {
      this.#end();
    } catch (error) {
      this.failed(error);
    }
  }

  failed(error: unknown): void {
    if (this.#isAnswered || this.isStopped) return this.#finish();
    this.lastEventId = this.#parser?.lastEventId ?? this.lastEventId;
    this.retryMs = this.#parser?.retryMs ?? this.retryMs;
    const isCut = !(error instanceof PlugboardError) || error.code === "connection-lost";
    if (this.#parser && this.lastEventId !== undefined && isCut && this.#context.resume) {
      this.#parser = undefined;
      return this.#context.resume(this);
    }
    this.reject(error instanceof PlugboardError ? error : this.#lost("broke off its response", error));
  }

  reject(error: PlugboardError): void {
    this.#finish();
    this.#context.events.failed(this.request.id, error);
  }

  #createParser(): EventStreamParser {
    return new EventStreamParser({
      ...eventLimit(this.#context.authorization.client),
      onEvent: (event) => {
        this.resumes.empty = 0;
        if (isMessageEvent(event)) this.#takeEvent(event.data);
      },
    });
  }

  #end(): void {
    if (this.#parser) return this.failed(this.#lost("ended its stream without a response"));
    const { status = 0, type = "" } = this.#head ?? {};
    // Accepted: the answer, if any, comes on another stream, and the caller's deadline still applies.
    if (status === 202 || status === 204) return;
    const [first = Buffer.alloc(0), ...more] = this.#chunks;
    const body = more.length === 0 ? first : Buffer.concat([first, ...more]);
    this.#chunks = [];
    if (status !== 200 || type !== "application/json") return this.#refused(status, type, body);
    this.#take(body);
    if (this.#isAnswered) return this.#finish();
    const { server } = this.#context.authorization.client;
    const message = `"${server}" answered ${this.request.method} with a message that matches none of our requests.`;
    this.reject(new PlugboardError("protocol-error", message, { server }));
  }

  /** Skips an event that cannot be parsed; the others may still be valid. */
  #takeEvent(data: Buffer): void {
    try {
      this.#take(data);
    } catch (error) {
      if (!(error instanceof PlugboardError)) throw error;
    }
  }

  #take(bytes: Buffer): void {
    const { events, authorization } = this.#context;
    if (events.wantsBytes && events.takes(bytes)) {
      this.#isAnswered = true;
      return;
    }
    for (const message of parseMessages(bytes, authorization.client)) this.#receive(message, bytes.length);
  }

  #receive(message: Record<string, unknown>, bytes: number): void {
    const isAnswer = message["id"] === this.request.id && !("method" in message);
    if (isAnswer) {
      this.#isAnswered = true;
      if (this.#rejectLostSession(message)) return;
    }
    this.#context.events.message(message, this.request.id, bytes);
  }

  #refused(status: number, type: string, body: Buffer): void {
    const mayAnswer = type === "application/json" && status !== 401 && status !== 403 && status !== 429;
    const message = mayAnswer ? tryParse(body) : undefined;
    if (isRecord(message) && message["id"] === this.request.id && isRecord(message["error"])) {
      this.#receive(message, body.length);
      return this.#finish();
    }
    const { authorization, hadSession } = this.#context;
    if (this.#head) this.reject(statusError(authorization, { head: this.#head, body, hadSession }));
  }

  #rejectLostSession(message: Record<string, unknown>): boolean {
    const answer = this.#context.hadSession ? readAnswer(message) : undefined;
    const status = this.#head?.status ?? 200;
    if (!answer || !("error" in answer) || !isSessionError(answer.error, status >= 400)) return false;
    this.reject(sessionLost(this.#context.authorization.client.server, status));
    return true;
  }

  #lost(what: string, cause?: unknown): PlugboardError {
    const { server } = this.#context.authorization.client;
    const message = `"${server}" ${what} (${this.request.method}).`;
    return new PlugboardError("connection-lost", message, { server, data: { sent: true }, cause });
  }

  #finish(): void {
    this.#context.finished(this.request.id);
  }
}
