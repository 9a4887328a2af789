import type { Answer, Outlet } from "../exchange.ts";
import type { Beating } from "./heartbeat.ts";
import { afterSending, answerChunks } from "./json-rpc.ts";
import type { Incoming } from "./incoming.ts";
import type { Chunk, HttpReply, HttpRequest, ReplyHeaders } from "./request.ts";
import { eventChunks, keepAliveComment, streamHeaders } from "./sse.ts";
import { answerStatus } from "./status.ts";

/** The reply to one modern request: JSON, or a stream as soon as something has to be sent before the answer. */
export class ModernReply implements Outlet, Beating {
  readonly #reply: HttpReply;
  readonly #cors: ReplyHeaders;
  readonly #request: HttpRequest;
  readonly #waitingBytes: number;
  #state: "silent" | "stream" | "over" = "silent";
  #beats = 0;

  constructor({ reply, cors, request }: Incoming, waitingBytes: number) {
    this.#reply = reply;
    this.#cors = cors;
    this.#request = request;
    this.#waitingBytes = waitingBytes;
  }

  header(name: string): string | undefined {
    return this.#request.header(name);
  }

  send(text: string): void {
    this.#write(eventChunks([text]));
  }

  answer(idText: string, answer: Answer): void {
    const chunks = answerChunks(idText, answer);
    if (this.#state === "silent") {
      const status = answerStatus("error" in answer ? answer.error : undefined);
      const headers = { ...this.#cors, "content-type": "application/json" };
      this.#reply.send(status, headers, chunks, afterSending(answer));
    } else if (this.#state === "stream") {
      this.#write(eventChunks(chunks));
      this.#reply.end();
    }
    this.#state = "over";
  }

  /** Clients give up when not even a header comes for minutes, so a long call becomes a stream. */
  beat(): void {
    if (this.#state === "stream" || ++this.#beats > 1) this.#write([keepAliveComment]);
  }

  /** The client is gone. */
  abandon(): void {
    this.#state = "over";
  }

  #write(chunks: readonly Chunk[]): void {
    if (this.#state === "over") return;
    if (this.#state === "silent") this.#reply.open({ ...this.#cors, ...streamHeaders });
    this.#state = "stream";
    // Dropping a reader that is too slow cancels its request.
    if (this.#reply.waitingBytes > this.#waitingBytes) this.#reply.destroy();
    else this.#reply.write(chunks);
  }
}
