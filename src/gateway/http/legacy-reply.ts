import type { Answer, Outlet } from "../exchange.ts";
import type { Beating } from "./heartbeat.ts";
import type { HttpSession } from "./http-session.ts";
import { afterSending, answerChunks } from "./json-rpc.ts";
import type { Chunk, HttpReply, HttpRequest, ReplyHeaders } from "./request.ts";
import type { ResumableStream } from "./resumable-stream.ts";

export interface LegacyReplySettings {
  request: HttpRequest;
  reply: HttpReply;
  cors: ReplyHeaders;
  session: HttpSession;
  /** How many requests it answers. */
  requests: number;
  isBatch: boolean;
}

/** The reply to the requests in one POST: JSON, or a stream as soon as something has to be sent before the answers. */
export class LegacyReply implements Outlet, Beating {
  readonly #settings: LegacyReplySettings;
  readonly #answers: Chunk[][] = [];
  #open: number;
  #stream: ResumableStream | undefined;
  /** For the only answer of a request that is not a batch. */
  #onSent: (() => void) | undefined;
  #beats = 0;

  constructor(settings: LegacyReplySettings) {
    this.#settings = settings;
    this.#open = settings.requests;
  }

  header(name: string): string | undefined {
    return this.#settings.request.header(name);
  }

  isConnected(): boolean {
    return this.#stream ? this.#stream.isConnected : !this.#settings.reply.isGone;
  }

  send(text: string): void {
    if (this.#open > 0) this.#becomeStream()?.send([text]);
  }

  /** Undefined for a request that its client cancelled: it gets no answer. */
  answer(idText: string, answer: Answer | undefined): void {
    this.#open--;
    if (answer) {
      const chunks = answerChunks(idText, answer);
      if (this.#stream) this.#stream.send(chunks);
      else {
        this.#answers.push(chunks);
        this.#onSent = afterSending(answer);
      }
    }
    if (this.#open > 0) return;
    if (this.#stream) this.#stream.complete();
    else this.#sendJson();
  }

  beat(): void {
    if (++this.#beats > 1 && this.#open > 0) this.#becomeStream();
  }

  #sendJson(): void {
    const { reply, cors, isBatch } = this.#settings;
    if (reply.isGone) return;
    const [only] = this.#answers;
    if (!only) return reply.send(202, cors);
    const headers = { ...cors, "content-type": "application/json" };
    if (!isBatch) return reply.send(200, headers, only, this.#onSent);
    const body = this.#answers.flatMap((chunks, index) => (index === 0 ? chunks : [",", ...chunks]));
    reply.send(200, headers, ["[", ...body, "]"]);
  }

  /** Nobody can ever resume a stream of which nobody got an event. */
  #becomeStream(): ResumableStream | undefined {
    const { reply, cors, session } = this.#settings;
    if (this.#stream || reply.isGone) return this.#stream;
    this.#stream = session.callStream();
    this.#stream.connect(reply, cors);
    for (const chunks of this.#answers.splice(0)) this.#stream.send(chunks);
    return this.#stream;
  }
}
