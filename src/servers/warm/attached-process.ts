import type { Socket } from "node:net";
import { Readable, Writable } from "node:stream";
import { PlugboardError } from "../../errors.ts";
import type { ErrorCode, ErrorDetails } from "../../errors.ts";
import type { KeptSession, RunningProgram, WarmUse } from "../process/running-program.ts";
import type { ExitStatus } from "../process/server-process.ts";
import { waitAtMost } from "../wait-at-most.ts";
import { readFrames, sendBytes, sendJson } from "./frames.ts";
import type { FrameKind } from "./frames.ts";
import { isSession, parseMessage } from "./messages.ts";
import type { CommandMessage } from "./messages.ts";

type Attach = Extract<CommandMessage, { type: "attach" }>;

/**
 * Asks the broker for a process and uses it. Undefined if the broker has none to give; rejects with the reason if the
 * program cannot be started.
 */
export async function attach(
  socket: Socket,
  request: Attach,
  limitMs: number = attachMs,
): Promise<AttachedProcess | undefined> {
  const process = new AttachedProcess(socket, request.program.server);
  let isAttached = false;
  const attaching = process.attached.then((result) => (isAttached = result));
  attaching.catch(() => undefined);
  sendJson(socket, request);
  try {
    // A broker that hangs must not make its commands hang.
    await waitAtMost(process.heard, Math.min(limitMs, silenceMs));
    if (!process.isHeard) throw new Error("the broker does not answer; `plugboard stop` says more");
    await waitAtMost(attaching, Math.min(limitMs, attachMs));
    return isAttached ? process : undefined;
  } finally {
    if (!isAttached) socket.destroy();
  }
}

/** A server's program that the broker holds, while this command uses it. It looks like a child process. */
export class AttachedProcess implements RunningProgram, WarmUse {
  pid = 0;
  exit: ExitStatus | undefined;
  kept: KeptSession | undefined;
  isCutOff = false;
  isHeard = false;
  /** Settles when the broker said anything, or is gone. */
  readonly heard: Promise<void>;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<ExitStatus>;
  /** True when it can be used, false if the broker refuses. */
  readonly attached: Promise<boolean>;
  readonly #socket: Socket;
  readonly #server: string;
  readonly #attaching = Promise.withResolvers<boolean>();
  readonly #exiting = Promise.withResolvers<ExitStatus>();
  readonly #hearing = Promise.withResolvers<void>();
  readonly #ending = Promise.withResolvers<void>();
  readonly #pausing = Promise.withResolvers<void>();
  readonly #releasing = Promise.withResolvers<boolean>();
  readonly #closing = Promise.withResolvers<void>();

  constructor(socket: Socket, server: string) {
    this.#socket = socket;
    this.#server = server;
    this.attached = this.#attaching.promise;
    this.exited = this.#exiting.promise;
    this.heard = this.#hearing.promise;
    const read = () => void socket.resume();
    this.stdout = new Readable({ read });
    this.stderr = new Readable({ read });
    this.stdin = new Writable({
      write(bytes: Buffer, _, done) {
        const hasRoom = sendBytes(socket, "stdin", bytes);
        if (hasRoom) done();
        else socket.once("drain", done);
      },
    });
    readFrames(socket, (kind, bytes) => this.#receive(kind, bytes));
    socket.on("close", () => this.#closed());
  }

  get warm(): WarmUse {
    return this;
  }

  async giveBack(session: KeptSession, isAtRest: () => boolean): Promise<void> {
    await waitAtMost(new Promise<void>((resolve) => void this.stdin.end(resolve)), replyMs);
    this.#send({ type: "pause" });
    let isPaused = false;
    const pausing = this.#pausing.promise.then(() => (isPaused = true));
    await waitAtMost(Promise.race([pausing, this.#closing.promise]), replyMs);
    if (!isPaused) return;
    // What came before the answer is handed on in this turn.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.stdout.readableLength > 0 || this.exit || !isAtRest()) return;
    this.#send({ type: "release", session });
    await waitAtMost(Promise.race([this.#releasing.promise, this.#closing.promise]), replyMs);
  }

  /** Does nothing if it was given back. Otherwise waits until the broker has ended the process, but not forever. */
  async stop(): Promise<void> {
    this.#send({ type: "end" });
    let isEnding = false;
    const ending = this.#ending.promise.then(() => (isEnding = true));
    await waitAtMost(Promise.race([ending, this.#closing.promise]), silenceMs);
    // A broker that hangs ends the process when it sees that we left.
    if (isEnding) await waitAtMost(this.#closing.promise, endMs);
    this.#socket.destroy();
  }

  #send(message: CommandMessage): void {
    sendJson(this.#socket, message);
  }

  #receive(kind: FrameKind, bytes: Buffer): void {
    this.isHeard = true;
    this.#hearing.resolve();
    if (kind === "stdout" || kind === "stderr") {
      if (!this[kind].push(bytes)) this.#socket.pause();
      return;
    }
    const message = kind === "json" ? parseMessage(bytes) : undefined;
    switch (message?.["type"]) {
      case "working":
        return;
      case "ending":
        return this.#ending.resolve();
      case "attached":
        this.pid = Number(message["pid"]);
        this.kept = isSession(message["kept"]) ? message["kept"] : undefined;
        return this.#attaching.resolve(true);
      case "failed":
        return this.#attaching.reject(errorFrom(message["error"], this.#server));
      case "exited":
        return this.#exitedWith(message);
      case "paused":
        return this.#pausing.resolve();
      case "released":
        if (message["isKept"] === true) this.#releasing.resolve(true);
        return;
      default:
        return this.#attaching.resolve(false);
    }
  }

  #exitedWith({ code, signal }: Record<string, unknown>): void {
    this.exit ??= { code: code as number | null, signal: signal as NodeJS.Signals | null };
    this.#exiting.resolve(this.exit);
    this.stdout.push(null);
    this.stderr.push(null);
  }

  /** Without a word about the exit, the broker is gone, and its watchdog ends the process. */
  #closed(): void {
    this.isHeard = true;
    this.#hearing.resolve();
    this.#attaching.resolve(false);
    this.#closing.resolve();
    if (this.exit) return;
    this.isCutOff = true;
    this.#exitedWith({ code: null, signal: null });
  }
}

/** Starting a program takes no time, but those that wait may have to be tried first, for a second each. */
const attachMs = 8_000;
const replyMs = 1_000;
/** A broker that says nothing for this long hangs. */
const silenceMs = 2_000;
/** The broker closes the connection when nothing is left, which takes at most two graces and some searching. */
const endMs = 15_000;

function errorFrom(value: unknown, server: string): PlugboardError {
  const { code, message, data, hint } = (value ?? {}) as ErrorDetails & {
    code?: ErrorCode;
    message?: string;
  };
  return new PlugboardError(code ?? "internal", message ?? "The broker failed.", { server, data, hint });
}
