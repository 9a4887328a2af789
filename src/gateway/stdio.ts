import type { Readable, Writable } from "node:stream";
import type { Endpoint } from "./endpoint.ts";
import type { Answer, AnsweredOutlet, Dispatcher } from "./exchange.ts";
import { Failure, failed } from "./failure.ts";
import type { LogLevels } from "./log-levels.ts";
import { startDeadline } from "../lib/deadline.ts";
import { TransientMap } from "../lib/transient.ts";
import { BadMessage, cancelledId, readBatch, readMessage } from "./message.ts";
import type { ClientMessage, ClientNotification, ClientRequest } from "./message.ts";
import { modernClient, revisionOf } from "./modern-client.ts";
import { OpenExchange } from "./open-exchange.ts";
import { errorText, resultChunks } from "./result.ts";
import { LegacySession } from "./session.ts";

export interface StdioSettings {
  endpoint: Endpoint;
  dispatcher: Dispatcher;
  logLevels: LogLevels;
  input: Readable;
  output: Writable;
  /** How long requests that were read before the end of the input may still take. */
  drainMs: number;
}

const maxLineBytes = 64 * 1024 * 1024;
/** A client that reads nothing while this much waits for it is given up. */
const maxWaitingBytes = 256 * 1024 * 1024;

/** The caller behind a pipe. */
export const stdioCaller = "stdio";
const behindPipe = { caller: stdioCaller, transport: "stdio" } as const;

/** A client at the other end of a pipe. */
export interface Pipe {
  /** Resolves when the input has ended, what was asked before is answered, and nothing runs for the client any more. */
  ended: Promise<void>;
  /**
   * Takes no more requests, and ends when those under way are answered, or after a while. At once if the input has ended
   * already: then they had their time.
   */
  stop(drainMs: number): Promise<void>;
}

/** Serves the one client at the other end of a pipe. */
export function openPipe(settings: StdioSettings): Pipe {
  const connection = new StdioConnection(settings);
  const read = async () => {
    try {
      for await (const line of lines(settings.input)) connection.take(line);
      await connection.finish();
    } catch (error) {
      if (!connection.isStopping) throw error;
    } finally {
      await connection.close();
    }
  };
  const ended = read();
  const stop = async (drainMs: number) => {
    await connection.drain(drainMs);
    settings.input.destroy();
    await ended;
  };
  return { ended, stop };
}

class StdioConnection implements AnsweredOutlet {
  readonly #settings: StdioSettings;
  /** Modern requests under way; a legacy session has its own. */
  readonly #exchanges = new TransientMap<OpenExchange>();
  readonly #running = new Set<Promise<void>>();
  #session: LegacySession | undefined;
  /** Ends the wait for running requests: the client is gone, or we were told to stop. */
  readonly #hurry = Promise.withResolvers<void>();
  #isInputOver = false;
  isStopping = false;

  constructor(settings: StdioSettings) {
    this.#settings = settings;
    const gone = () => this.#hurry.resolve();
    settings.output.on("error", gone).on("close", gone);
  }

  send(text: string): void {
    this.#write([text]);
  }

  answer(idText: string, answer: Answer | undefined): void {
    if (answer) this.#reply(idText, answer);
  }

  take(line: Buffer | "too long"): void {
    this.#refusing(() => {
      if (line === "too long") throw new BadMessage(-32_600, `A message has at most ${maxLineBytes} bytes.`);
      for (const one of readBatch(line) ?? [line]) this.#refusing(() => this.#receive(readMessage(one)));
    });
  }

  /**
   * The input has ended, as with `printf … | plugboard serve --stdio`. What was asked is still answered, unless nobody reads
   * the answers. Nobody can answer questions any more.
   */
  async finish(): Promise<void> {
    if (this.isStopping) return;
    this.#isInputOver = true;
    this.#session?.endQuestions();
    await this.#answerAll(this.#settings.drainMs);
  }

  /** Resolves when everything that was asked is answered, or after a while. Questions to the client still go on. */
  async drain(drainMs: number): Promise<void> {
    this.isStopping = true;
    if (this.#isInputOver) return this.#hurry.resolve();
    await this.#answerAll(drainMs);
  }

  async #answerAll(drainMs: number): Promise<void> {
    for (const exchange of this.#exchanges.values())
      if (exchange.method === "subscriptions/listen") exchange.cancel();
    using deadline = startDeadline(drainMs);
    const late = new Promise<void>((resolve) => {
      deadline.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    await Promise.race([Promise.allSettled(this.#running), late, this.#hurry.promise]);
  }

  /** Nobody can read answers any more, so what still runs is ended. */
  async close(): Promise<void> {
    for (const exchange of this.#exchanges.values()) exchange.cancel();
    this.#session?.close();
    await Promise.allSettled(this.#running);
  }

  /** What cannot be understood is answered, and keeps nothing else from being read. */
  #refusing(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error;
      this.#reply(error.idText, { error: error.failure });
    }
  }

  #receive(message: ClientMessage): void {
    const work = this.#handle(message)
      .catch((error: unknown) => {
        // Such as a result of a server in this process that is not JSON. Nothing else may end because of it.
        if (message.kind === "request") this.#reply(message.idText, failed(error));
      })
      .finally(() => this.#running.delete(work));
    this.#running.add(work);
  }

  async #handle(message: ClientMessage): Promise<void> {
    if (this.isStopping && message.kind === "request")
      return this.#reply(message.idText, failed(new Failure(-32_000, "The gateway is shutting down.")));
    if (message.kind === "request" && message.method === "initialize") return this.#initialize(message);
    const isModern = message.kind !== "answer" && revisionOf(message.params) !== undefined;
    if (message.kind === "notification" && message.method === "notifications/cancelled")
      this.#exchanges.get(cancelledId(message))?.cancel();
    else if (isModern && message.kind === "notification") return this.#hearModern(message);
    if (isModern || (message.kind === "request" && message.method === "server/discover"))
      return message.kind === "request" ? this.#answerModern(message) : undefined;
    if (this.#session) await this.#session.receive(message, this);
    else if (message.kind === "request") {
      const isPing = message.method === "ping";
      const error = { code: -32_600, message: "Send `initialize` first." };
      this.#reply(message.idText, isPing ? { result: {} } : { error });
    }
  }

  async #initialize(message: ClientRequest): Promise<void> {
    const { endpoint, dispatcher, logLevels } = this.#settings;
    try {
      const settings = { endpoint, dispatcher, logLevels, ...behindPipe, outlet: this };
      const session = new LegacySession(message, settings);
      this.#session?.close();
      this.#session = session;
      this.#reply(message.idText, await session.greet(message));
    } catch (error) {
      this.#reply(message.idText, failed(error));
    }
  }

  /** Nobody can be told what is wrong with a notification. */
  #hearModern({ method, params }: ClientNotification): void {
    const { endpoint, dispatcher } = this.#settings;
    try {
      dispatcher.hear(modernClient(params, { endpoint, ...behindPipe }), method, params);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
    }
  }

  async #answerModern(message: ClientRequest): Promise<void> {
    const { endpoint, dispatcher } = this.#settings;
    const { idText } = message;
    if (this.#exchanges.has(idText))
      return this.#reply(idText, failed(new Failure(-32_600, "A request with this id is under way.")));
    let exchange: OpenExchange;
    try {
      exchange = new OpenExchange(modernClient(message.params, { endpoint, ...behindPipe }), message, this);
    } catch (error) {
      return this.#reply(idText, failed(error));
    }
    this.#exchanges.add(idText, exchange);
    let answer: Answer;
    try {
      answer = await dispatcher.answer(exchange);
    } finally {
      exchange.end();
      this.#exchanges.delete(idText);
    }
    if (!exchange.isCancelled || message.method === "subscriptions/listen") this.#reply(idText, answer);
  }

  #reply(idText: string, answer: Answer): void {
    const head = `{"jsonrpc":"2.0","id":${idText},`;
    if ("error" in answer) return this.#write([`${head}"error":${errorText(answer.error)}}`]);
    this.#write(resultChunks(`${head}"result":`, answer, "}"));
  }

  #write(chunks: (string | Buffer)[]): void {
    const { output } = this.#settings;
    if (output.writableLength > maxWaitingBytes) output.destroy();
    if (output.destroyed || output.writableEnded) return;
    output.cork();
    for (const chunk of chunks) output.write(chunk);
    output.write("\n");
    process.nextTick(() => output.uncork());
  }
}

/** The lines of a stream as bytes, without empty ones. Of a line that is too long nothing is kept. */
async function* lines(input: Readable): AsyncGenerator<Buffer | "too long"> {
  let parts: Buffer[] = [];
  let size = 0;
  /** Takes the next bytes of the current line. True if they are the first ones too many. */
  const add = (bytes: Buffer): boolean => {
    const wasTooLong = size > maxLineBytes;
    size += bytes.length;
    if (size > maxLineBytes) parts = [];
    else if (bytes.length > 0) parts.push(bytes);
    return !wasTooLong && size > maxLineBytes;
  };
  for await (const chunk of input as AsyncIterable<Buffer | string>) {
    let rest = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a)) {
      if (add(rest.subarray(0, end))) yield "too long";
      const line = Buffer.concat(parts);
      parts = [];
      size = 0;
      rest = rest.subarray(end + 1);
      if (line.toString("latin1").trim() !== "") yield line;
    }
    if (add(rest)) yield "too long";
  }
  // The last message may have no line break.
  const line = Buffer.concat(parts);
  if (line.toString("latin1").trim() !== "") yield line;
}
