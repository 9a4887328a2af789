import type { PlugboardError } from "../../../errors.ts";
import { isRecord } from "../../../lib/record.ts";
import { printable } from "../../../lib/printable.ts";
import type { RpcMessage } from "../../rpc/messages.ts";
import type { ServerProgram } from "../../process/process-tree.ts";
import type { KeptSession, ProgramStarter, RunningProgram } from "../../process/running-program.ts";
import { UseRecord } from "../../warm/use-record.ts";
import { waitAtMost } from "../../wait-at-most.ts";
import type { Transport, TransportEvents, TransportFacts } from "../transport.ts";
import { LineReader } from "./line-reader.ts";
import { stdioErrors } from "./errors.ts";
import { StderrTail } from "./stderr-tail.ts";
import { WriteQueue } from "./write-queue.ts";

export interface StdioOptions {
  processes: ProgramStarter<ServerProgram>;
  program: ServerProgram;
  /** The longest message accepted; a longer one ends the connection. */
  maxLineBytes?: number | undefined;
  /** How many bytes may be queued for a server that does not read before new requests are rejected. */
  maxQueuedBytes?: number | undefined;
  /** Lines of the server's stderr, redacted and rate-limited. */
  onStderr?: ((line: string) => void) | undefined;
  /** Applied to stderr before it becomes part of an error. */
  redact?: ((text: string) => string) | undefined;
  now?: (() => number) | undefined;
}

/** Runs a server as a child process and exchanges JSON messages with it, one per line. */
export class StdioTransport implements Transport {
  readonly kind = "stdio";
  readonly stderr: StderrTail;
  /** Lines on stdout that were not messages: how many, and the first of them. */
  readonly skipped = { count: 0, first: [] as string[] };
  /** The last error that the server sent as a log message. */
  readonly #logged = { error: "" };
  /** Why the connection ended, once it did. */
  lost: PlugboardError | undefined;
  readonly #options: StdioOptions;
  readonly #errors: ReturnType<typeof stdioErrors>;
  #events: TransportEvents | undefined;
  #process: RunningProgram | undefined;
  #queue: WriteQueue | undefined;
  #starting: Promise<RunningProgram> | undefined;
  /** Only of a program that may stay for the next command. */
  #use: UseRecord | undefined;
  #reader: LineReader | undefined;
  #closed = false;

  constructor(options: StdioOptions) {
    this.#options = options;
    this.stderr = new StderrTail({ onLine: options.onStderr, now: options.now, redact: options.redact });
    this.#errors = stdioErrors(
      options.program,
      { stderr: this.stderr, skipped: this.skipped, logged: this.#logged },
      options.redact,
    );
  }

  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  get exit() {
    return this.#process?.exit;
  }

  get facts(): TransportFacts {
    const tail = this.stderr.tail();
    return {
      ...(this.pid !== null && { pid: this.pid }),
      ...(this.skipped.count > 0 && { skippedLines: this.skipped }),
      ...(tail && { stderrTail: tail }),
    };
  }

  async start(events: TransportEvents): Promise<void> {
    this.#events = events;
    if (this.#starting !== undefined || this.#closed) throw this.#errors.usedTwice();
    this.#starting = this.#options.processes.spawn(this.#options.program);
    const process = await this.#starting;
    if (this.#closed) throw this.#errors.closed();
    this.#process = process;
    if (process.warm) this.#use = new UseRecord();
    this.#listen(process);
  }

  /** What an earlier command left of its session with this program. */
  get kept(): KeptSession | undefined {
    return this.#process?.warm?.kept;
  }

  /** Never blocks on a server that does not read. */
  send(message: RpcMessage, text: string): void {
    if (this.lost !== undefined) throw this.lost.with({ executed: "no" });
    if (this.#queue === undefined) throw this.#errors.notStarted();
    this.#use?.sent(message);
    this.#queue.write(text);
  }

  cancel(requestId: string, reason?: string): void {
    if (reason === undefined) return;
    const cancelled = {
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId, reason },
    } as const;
    this.send(cancelled, JSON.stringify(cancelled));
  }

  /**
   * Resolves when the process and its descendants are gone, or wait for their next use. Pending calls fail immediately.
   */
  async close(session?: KeptSession): Promise<void> {
    const { warm } = this.#process ?? {};
    if (session && warm && this.#isAtRest() && !this.#closed) {
      this.#closed = true;
      this.#queue?.flush();
      await warm.giveBack(session, () => this.#isAtRest());
    }
    this.#closed = true;
    this.#lose(this.#errors.closed());
    const process = await this.#starting?.catch(() => undefined);
    await process?.stop();
  }

  #listen(process: RunningProgram): void {
    const { stdin, stdout, stderr } = process;
    if (stdin === null || stdout === null || stderr === null) throw this.#errors.notStarted();
    const { maxLineBytes = 32 * 1024 * 1024, maxQueuedBytes } = this.#options;
    const reader = (this.#reader = new LineReader({
      maxLineBytes,
      takes: (bytes, start, end) => this.#takes(bytes, start, end),
      onMessage: (message, bytes) => {
        this.#use?.received(message);
        this.#logged.error = loggedError(message) ?? this.#logged.error;
        if (this.lost === undefined) this.#events?.message(message, undefined, bytes);
      },
      onSkipped: (line) => this.#skip(line),
      onTooLarge: (bytes) => this.#lose(this.#errors.tooLarge(bytes, maxLineBytes)),
    }));
    this.#queue = new WriteQueue(stdin, maxQueuedBytes, this.#errors.notReading);
    const outputEnded = new Promise<void>((resolve) => stdout.once("close", resolve));
    const wordsEnded = new Promise<void>((resolve) => stderr.once("close", resolve));
    stdout.on("data", (chunk: Buffer) => reader.push(chunk));
    stdout.once("end", () => reader.end());
    stderr.on("data", (chunk: Buffer) => this.stderr.push(chunk));
    stderr.once("close", () => this.stderr.end());
    stdout.once("end", () => void this.#explainBrokenPipe(process, this.#errors.outputClosed));
    stdin.once("error", () => void this.#explainBrokenPipe(process, this.#errors.inputClosed));
    // Watch the exit, not the end of stdout, which a grandchild may hold open. Earlier output is still read.
    void process.exited
      .then(() => waitFor(Promise.all([outputEnded, wordsEnded]), drainMs))
      .then(() =>
        this.#lose(process.isCutOff ? this.#errors.holderGone() : this.#errors.exited(process.exit)),
      );
  }

  /** True if another command could go on here. */
  #isAtRest(): boolean {
    return this.lost === undefined && this.#use?.isClean === true && !this.#reader?.isMidLine;
  }

  #takes(bytes: Buffer, start: number, end: number): boolean {
    if (this.#events?.wantsBytes !== true || this.lost !== undefined) return false;
    const isTaken = this.#events.takes(bytes.subarray(start, end));
    // The record cannot tell which request was answered.
    if (isTaken) this.#use?.spoil();
    return isTaken;
  }

  /** Waits briefly for the exit status, which is the best explanation of a broken pipe. */
  async #explainBrokenPipe(process: RunningProgram, explain: () => PlugboardError): Promise<void> {
    await waitFor(process.exited, exitLagMs);
    if (process.exit === undefined) this.#lose(explain());
  }

  #skip(line: string): void {
    this.skipped.count++;
    this.#events?.skipped?.(line);
    if (this.skipped.first.length < maxRemembered)
      this.skipped.first.push(printable(this.#options.redact?.(line) ?? line, { oneLine: true }));
  }

  /** Every end of the connection goes through here. */
  #lose(error: PlugboardError): void {
    if (this.lost !== undefined) return;
    this.lost = error;
    this.#queue?.flush();
    void this.#process?.stop();
    this.#events?.closed(error);
  }
}

/** Some servers log nowhere else, and not always in the shape of MCP. */
function loggedError({ method, params }: Record<string, unknown>): string | undefined {
  if (method === undefined || !isRecord(params)) return undefined;
  const { level, data, message: text } = params;
  const isError =
    typeof level === "number" ? level >= 50 : /^(?:err|crit|alert|emerg|fatal)/i.test(String(level));
  if (!isError) return undefined;
  const said = [data, isRecord(data) ? data["message"] : undefined, text].find(
    (one) => typeof one === "string",
  );
  return typeof said === "string" ? said.slice(0, maxLogged) : undefined;
}

const maxLogged = 4096;
const maxRemembered = 5;
const drainMs = 500;
const exitLagMs = 500;

/** If the event loop was busy, a late timer fires before data that has already arrived, so let the data in first. */
async function waitFor(event: Promise<unknown>, ms: number): Promise<void> {
  await waitAtMost(event, ms);
  await new Promise((resolve) => setImmediate(resolve));
}
