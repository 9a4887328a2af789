import { PlugboardError } from "../../../errors.ts";
import { isRecord } from "../../../lib/record.ts";
import type { Lane, LaneRequest } from "../../rpc/lane.ts";
import type { HttpClient } from "./client.ts";
import { EventStreamParser } from "./event-stream.ts";
import type { Head, Receiver } from "./exchange.ts";
import { eventTooLong } from "./fetch.ts";
import type { HttpJourney } from "./redirect.ts";
import { parseJson } from "./response.ts";
import { isSessionError, readableLength, sessionLost, statusError } from "./status.ts";

export interface CallContext {
  client: HttpClient;
  lane: Lane;
  hadSession: boolean;
  /** For messages that are not the lane's: pushes, questions of the server. */
  pass(message: unknown): void;
  /** What went wrong without deciding the outcome. */
  report(error: Error): void;
  /** Once more through the SDK and its sign-in code, after 401 and 403. False when there is no such code. */
  reissue(call: HttpCall): boolean;
  /** Legacy only: goes on after the call's last event. */
  resume: ((call: HttpCall) => void) | undefined;
  finished(id: string): void;
}

/** One request of the lane on its way: a POST, its answer (JSON, an event stream, a refusal), perhaps its continuation. */
export class HttpCall implements Receiver {
  readonly request: LaneRequest;
  /** Where to resume, and when. */
  lastEventId: string | undefined;
  retryMs: number | undefined;
  /** Attempts to resume since one was successful, and successful ones since they brought something. */
  readonly resumes = { failed: 0, empty: 0 };
  journey: HttpJourney | undefined;
  /** Ends what is under way: a request, or the wait before the next one. */
  undo: (reason: unknown) => void = () => {};
  readonly #context: CallContext;
  #head: Head | undefined;
  #chunks: Buffer[] = [];
  #parser: EventStreamParser | undefined;
  #answered = false;
  #stopped = false;

  constructor(request: LaneRequest, context: CallContext) {
    this.request = request;
    this.#context = context;
  }

  travel(journey: HttpJourney): void {
    this.journey = journey;
    this.undo = (reason) => journey.abort(reason);
  }

  stop(reason: unknown): void {
    this.#stopped = true;
    this.undo(reason);
    this.#finish();
  }

  head(head: Head): void {
    this.#head = head;
    if (head.status !== 200 || head.type !== "text/event-stream") return;
    const { client } = this.#context;
    this.#parser = new EventStreamParser({
      maxEventLength: client.limits.maxBodyBytes,
      tooLong: () => eventTooLong(client),
      onEvent: ({ type, data }) => {
        this.resumes.empty = 0;
        if (data !== "" && (type === "" || type === "message")) this.#takeEvent(data);
      },
    });
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
    if (this.#answered || this.#stopped) return this.#finish();
    this.lastEventId = this.#parser?.lastEventId ?? this.lastEventId;
    this.retryMs = this.#parser?.retryMs ?? this.retryMs;
    const isCut = !(error instanceof PlugboardError) || error.code === "connection-lost";
    if (this.#parser && this.lastEventId !== undefined && isCut && this.#context.resume) {
      this.#parser = undefined;
      return this.#context.resume(this);
    }
    this.reject(error instanceof PlugboardError ? error : this.#lost("broke off its answer", error));
  }

  reject(error: PlugboardError): void {
    this.#finish();
    this.#context.lane.reject(this.request.id, error);
  }

  #end(): void {
    if (this.#parser) return this.failed(this.#lost("ended its stream without an answer"));
    const { status = 0, type = "" } = this.#head ?? {};
    // Accepted: the answer, if any, comes on another stream, and the lane's deadline is running.
    if (status === 202 || status === 204) return;
    const text = Buffer.concat(this.#chunks).toString("utf8");
    this.#chunks = [];
    if (status !== 200) return this.#refused(status, type, text);
    const { client } = this.#context;
    const { server } = client;
    if (type !== "application/json") return this.reject(this.#statusError(status, text));
    this.#take(parseJson(text, server, client.redact));
    if (this.#answered) return this.#finish();
    const message = `"${server}" answered ${this.request.method} with a message that belongs to no request of ours.`;
    this.reject(new PlugboardError("protocol-error", message, { server }));
  }

  #takeEvent(data: string): void {
    let messages: unknown;
    try {
      const { server, redact } = this.#context.client;
      messages = parseJson(data, server, redact);
    } catch (error) {
      return this.#context.report(error as PlugboardError);
    }
    this.#take(messages);
  }

  #take(messages: unknown): void {
    const { lane, pass } = this.#context;
    for (const message of Array.isArray(messages) ? (messages as unknown[]) : [messages]) {
      const isAnswer = isRecord(message) && message["id"] === this.request.id && !("method" in message);
      if (isAnswer) {
        this.#answered = true;
        if (this.#rejectLostSession(message)) continue;
      }
      if (!lane.accept(message)) pass(message);
    }
  }

  #refused(status: number, type: string, text: string): void {
    if ((status === 401 || status === 403) && this.#context.reissue(this)) return;
    const body =
      type === "application/json" && status !== 401 && status !== 403 && status !== 429
        ? tryParse(text)
        : undefined;
    const isAnswer = isRecord(body) && body["id"] === this.request.id && isRecord(body["error"]);
    if (!isAnswer) return this.reject(this.#statusError(status, text));
    this.#take(body);
    this.#finish();
  }

  #rejectLostSession(message: Record<string, unknown>): boolean {
    const error = message["error"];
    if (!this.#context.hadSession || !isRecord(error)) return false;
    const { code, message: text } = error;
    const isRefused = (this.#head?.status ?? 200) >= 400;
    if (typeof code !== "number" || typeof text !== "string") return false;
    if (!isSessionError({ code, message: text }, isRefused)) return false;
    this.reject(sessionLost(this.#context.client.server, this.#head?.status ?? 200));
    return true;
  }

  #statusError(status: number, text: string): PlugboardError {
    const { client, hadSession } = this.#context;
    const { "content-type": contentType, "retry-after": retryAfter } = this.#head?.headers ?? {};
    return statusError({
      server: client.server,
      status,
      contentType: contentType && client.redact(contentType.toString()),
      retryAfter: retryAfter?.toString(),
      text: client.redact(text.slice(0, readableLength)),
      hadSession,
      now: client.now(),
    });
  }

  #lost(what: string, cause?: unknown): PlugboardError {
    const { server } = this.#context.client;
    const message = `"${server}" ${what} (${this.request.method}).`;
    return new PlugboardError("connection-lost", message, { server, data: { sent: true }, cause });
  }

  #finish(): void {
    this.#context.finished(this.request.id);
  }
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
