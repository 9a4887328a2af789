import { randomUUID } from "node:crypto";
import type { KeptSession } from "../process/running-program.ts";
import type { ExitStatus, ServerProcess } from "../process/server-process.ts";
import { LineReader } from "../transports/stdio/line-reader.ts";
import { waitAtMost } from "../wait-at-most.ts";
import type { Selection, WarmProcess, WarmProgram } from "./messages.ts";

/** The command that uses a process. */
export interface ProcessUser {
  /** Returns false if it reads too slowly; then calls `onDrained` when there is room again. */
  output(kind: "stdout" | "stderr", bytes: Buffer, onDrained: () => void): boolean;
  exited(status: ExitStatus): void;
}

export interface HeldOptions {
  process: ServerProcess;
  key: string;
  program: Pick<WarmProgram, "server" | "cwd">;
  /** The names of the secrets that it was started with. */
  secrets: readonly string[];
  keepMs: number;
  user: ProcessUser;
  limits: Limits;
  now(): number;
}

export interface Limits {
  /** How long a process may live at most, if nobody uses it. */
  maxAgeMs: number;
  /** How long a process may take to answer before its next use. */
  fenceMs: number;
}

type Phase = "attached" | "paused" | "waiting" | "fenced" | "ending";

/** For people, and for those who end it: one that is being checked for its next use is not yet in use. */
const states: Readonly<Record<Phase, WarmProcess["state"]>> = {
  attached: "in-use",
  paused: "in-use",
  waiting: "waiting",
  fenced: "waiting",
  ending: "ending",
};

/** One program in the broker: in use by one command, or waiting for the next. Decision 0022 has its states. */
export class HeldProcess {
  readonly key: string;
  readonly server: string;
  /** When it began to wait. */
  waitsSince = 0;
  readonly #options: HeldOptions;
  readonly #startedAt: number;
  #phase: Phase = "attached";
  #user: ProcessUser | undefined;
  #uses = 1;
  #keepMs: number;
  #endsAt = Infinity;
  #timer: NodeJS.Timeout | undefined;
  #session: KeptSession | undefined;
  /** Set by whoever wants that it is not used again. */
  #isLast = false;
  /** Whether the output that the present user was sent ends with a whole line. */
  #isWholeLine = true;
  /** Reads what the user is not sent. */
  #idle: LineReader | undefined;
  #overheard = 0;
  #fence: { id: string; passed(): void } | undefined;

  constructor(options: HeldOptions) {
    const { process, key, program, keepMs, user, now } = options;
    this.#options = options;
    this.key = key;
    this.server = program.server;
    this.#keepMs = keepMs;
    this.#user = user;
    this.#startedAt = now();
    const { stdout, stderr } = process;
    const outputs = [stdout, stderr].map(
      (stream) => new Promise((resolve) => stream?.once("close", resolve)),
    );
    stdout?.on("data", (bytes: Buffer) => this.#hear(bytes));
    stderr?.on("data", (bytes: Buffer) => this.#pass("stderr", bytes));
    void process.exited
      .then((status) => waitAtMost(Promise.all(outputs), drainMs).then(() => status))
      .then((status) => {
        this.#user?.exited(status);
        void this.end();
      });
    // A program that closes its output but lives is of no use to anybody.
    stdout?.once("end", () => void waitAtMost(process.exited, drainMs).then(() => this.end()));
  }

  get pid(): number {
    return this.#options.process.pid;
  }

  get isWaiting(): boolean {
    return this.#phase === "waiting";
  }

  /** Settles when the program and all its descendants are gone. */
  get ended(): Promise<void> {
    return this.#options.process.ended;
  }

  describe(): WarmProcess {
    const { pid, server } = this;
    const state = states[this.#phase];
    const endsAt = state === "waiting" ? { endsAt: this.#endsAt } : {};
    const { cwd } = this.#options.program;
    return { server, pid, cwd, startedAt: this.#startedAt, uses: this.#uses, state, ...endsAt };
  }

  isMeant({ servers, secret }: Selection): boolean {
    if (secret !== undefined) return this.#options.secrets.includes(secret);
    return servers === undefined || servers.includes(this.server);
  }

  write(bytes: Buffer): void {
    const { stdin } = this.#options.process;
    if (!stdin || stdin.writableLength > maxQueuedBytes) void this.end();
    else if (stdin.writable) stdin.write(bytes);
  }

  /** From now on its user is sent no more output. */
  pause(): void {
    if (this.#phase !== "attached") return;
    this.#phase = "paused";
    const end = () => void this.end();
    this.#idle = new LineReader({
      maxLineBytes: maxIdleLineBytes,
      takes: () => false,
      onMessage: (message) => this.#overhear(message),
      onTooLarge: end,
      onSkipped: end,
    });
    this.#options.process.stdout?.resume();
  }

  /** Takes it back from its user. Returns false if it has to end instead. */
  release(session: KeptSession): boolean {
    const { process, now, limits } = this.#options;
    const isAllWritten = process.stdin?.writableLength === 0;
    const endsAt = Math.min(now() + this.#keepMs, this.#startedAt + limits.maxAgeMs);
    if (this.#phase !== "paused" || this.#isLast || !this.#isWholeLine || !isAllWritten || endsAt <= now()) {
      void this.end();
      return false;
    }
    this.#phase = "waiting";
    this.#user = undefined;
    this.#session = session;
    this.waitsSince = now();
    this.#endsAt = endsAt;
    this.#timer = setTimeout(() => void this.end(), endsAt - now());
    return true;
  }

  /** Gives it to another command; undefined if the server does not answer, and then it ends. */
  async attach(user: ProcessUser, keepMs: number): Promise<KeptSession | undefined> {
    const session = this.#session;
    if (this.#phase !== "waiting" || session === undefined) return undefined;
    clearTimeout(this.#timer);
    this.#phase = "fenced";
    const isReady = await this.#passFence(session);
    if (!isReady || this.#phase !== "fenced") {
      void this.end();
      return undefined;
    }
    this.#idle = undefined;
    this.#overheard = 0;
    this.#phase = "attached";
    this.#user = user;
    this.#uses++;
    this.#keepMs = keepMs;
    this.#isWholeLine = true;
    return session;
  }

  /** It ends now, or after its present use. Returns true if it is in use. */
  retire(): boolean {
    this.#isLast = true;
    const isInUse = states[this.#phase] === "in-use";
    if (!isInUse) void this.end();
    return isInUse;
  }

  end(): Promise<void> {
    this.#phase = "ending";
    clearTimeout(this.#timer);
    return this.#options.process.stop();
  }

  async #passFence({ fence: { method, params } }: KeptSession): Promise<boolean> {
    if (this.#idle?.isMidLine !== false) return false;
    const id = randomUUID();
    let hasPassed = false;
    const answered = new Promise<void>((resolve) => {
      const passed = () => {
        hasPassed = true;
        resolve();
      };
      this.#fence = { id, passed };
    });
    this.write(Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`));
    const { limits, process } = this.#options;
    await waitAtMost(Promise.race([answered, process.exited]), limits.fenceMs);
    this.#fence = undefined;
    return hasPassed && !this.#idle.isMidLine;
  }

  #hear(bytes: Buffer): void {
    if (this.#idle) return this.#idle.push(bytes);
    this.#isWholeLine = bytes.at(-1) === newline;
    this.#pass("stdout", bytes);
  }

  #pass(kind: "stdout" | "stderr", bytes: Buffer): void {
    const stream = this.#options.process[kind];
    if (this.#user?.output(kind, bytes, () => stream?.resume()) === false) stream?.pause();
  }

  /** What a server says while nobody listens. Only what belongs to the last use and changes nothing lets it stay. */
  #overhear({ id, method }: Record<string, unknown>): void {
    if (method === undefined && id === this.#fence?.id) return this.#fence?.passed();
    const isLate = method === undefined ? isOurs(id) : id === undefined && forgettable.has(method);
    if (!isLate || ++this.#overheard > maxOverheard) void this.end();
  }
}

/** The ids of requests of commands; see `rpc/requests.ts`. */
function isOurs(id: unknown): boolean {
  return typeof id === "string" && /^p\d+$/.test(id);
}

const forgettable: ReadonlySet<unknown> = new Set([
  "notifications/cancelled",
  "notifications/message",
  "notifications/progress",
  "notifications/subscriptions/acknowledged",
]);

const newline = 0x0a;
const drainMs = 500;
/** A server that says more than this to nobody does not rest. */
const maxOverheard = 1_000;
const maxIdleLineBytes = 1024 * 1024;
const maxQueuedBytes = 64 * 1024 * 1024;
