import type { Answer, AnsweredOutlet } from "../exchange.ts";
import type { Beating, Heartbeat } from "./heartbeat.ts";
import type { HttpSession } from "./http-session.ts";
import type { Incoming } from "./incoming.ts";
import { afterSending, answerChunks } from "./json-rpc.ts";
import type { Chunk } from "./request.ts";
import type { ResumableStream } from "./resumable-stream.ts";

/** The reply to the requests in one POST: JSON, or a stream as soon as something has to be sent before the answers. */
export class LegacyReply implements AnsweredOutlet, Beating {
  readonly #incoming: Incoming;
  readonly #session: HttpSession;
  readonly #heartbeat: Heartbeat;
  readonly #isBatch: boolean;
  readonly #answers: Chunk[][] = [];
  /** Its place in the heartbeat. */
  readonly #place: number;
  /** How many requests are not answered. */
  #open: number;
  #isOver = false;
  #stream: ResumableStream | undefined;
  /** For the only answer of a request that is not a batch. */
  #onSent: (() => void) | undefined;
  #beats = 0;

  /** `requests` is how many it answers. */
  constructor(
    incoming: Incoming,
    session: HttpSession,
    heartbeat: Heartbeat,
    requests: number,
    isBatch: boolean,
  ) {
    this.#incoming = incoming;
    this.#session = session;
    this.#heartbeat = heartbeat;
    this.#isBatch = isBatch;
    this.#open = requests;
    this.#place = heartbeat.add(this);
  }

  header(name: string): string | undefined {
    return this.#incoming.request.header(name);
  }

  isConnected(): boolean {
    return this.#stream ? this.#stream.isConnected : !this.#incoming.reply.isGone;
  }

  send(text: string): void {
    if (!this.#isOver) this.#becomeStream()?.send([text]);
  }

  answer(idText: string, answer: Answer | undefined): void {
    this.#open--;
    if (this.#isOver) return;
    try {
      if (answer) this.#add(idText, answer);
      if (this.#open > 0) return;
      if (this.#stream) this.#stream.complete();
      else this.#sendJson();
    } catch (error) {
      this.end();
      throw error;
    }
    this.end();
  }

  /** Nothing more is sent: all is answered, or something failed. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#heartbeat.remove(this.#place);
    this.#session.touch();
  }

  beat(): void {
    if (++this.#beats > 1) this.#becomeStream();
  }

  #add(idText: string, answer: Answer): void {
    const chunks = answerChunks(idText, answer);
    if (this.#stream) return this.#stream.send(chunks);
    this.#answers.push(chunks);
    this.#onSent = afterSending(answer);
  }

  #sendJson(): void {
    const { reply, cors } = this.#incoming;
    if (reply.isGone) return;
    const [only] = this.#answers;
    if (!only) return reply.send(202, cors);
    const headers = { ...cors, "content-type": "application/json" };
    if (!this.#isBatch) return reply.send(200, headers, only, this.#onSent);
    const body = this.#answers.flatMap((chunks, index) => (index === 0 ? chunks : [",", ...chunks]));
    reply.send(200, headers, ["[", ...body, "]"]);
  }

  /** Nobody can ever resume a stream of which nobody got an event. */
  #becomeStream(): ResumableStream | undefined {
    const { reply, cors } = this.#incoming;
    if (this.#stream || reply.isGone) return this.#stream;
    this.#stream = this.#session.callStream();
    this.#stream.connect(reply, cors);
    for (const chunks of this.#answers.splice(0)) this.#stream.send(chunks);
    return this.#stream;
  }
}
