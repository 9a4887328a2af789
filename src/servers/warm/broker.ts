import type { Socket } from "node:net";
import { isPlugboardError } from "../../errors.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import { readFrames, sendBytes, sendJson } from "./frames.ts";
import { HeldProcess } from "./held-process.ts";
import type { Limits, ProcessUser } from "./held-process.ts";
import { readCommand } from "./messages.ts";
import type { BrokerMessage, CommandMessage, Selection, WarmProcess } from "./messages.ts";
import { surroundings } from "./surroundings.ts";

export interface BrokerOptions {
  processes: ProcessTree;
  /** Called when there is nothing left to hold, or the broker was drained. */
  onIdle(): void;
  /** Stops taking connections. */
  onDrain(): void;
  limits?: Partial<BrokerLimits> | undefined;
  now?: (() => number) | undefined;
}

export interface BrokerLimits extends Limits {
  maxProcesses: number;
  /** How many of one server may wait: an entry that is edited leaves one each time. */
  maxPerServer: number;
  /** How long the broker stays when it holds nothing. */
  lingerMs: number;
}

const defaultLimits: BrokerLimits = {
  maxAgeMs: 8 * 3_600_000,
  fenceMs: 1_000,
  maxProcesses: 16,
  maxPerServer: 4,
  lingerMs: 1_000,
};

/** Holds servers between commands. It passes bytes; what they mean is the commands' business. See decision 0022. */
export class Broker {
  readonly #options: BrokerOptions;
  readonly #limits: BrokerLimits;
  readonly #surroundings = surroundings();
  readonly #held = new Set<HeldProcess>();
  readonly #sockets = new Set<Socket>();
  #starting = 0;
  #isDraining = false;
  #lingering: NodeJS.Timeout | undefined;

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    // Whoever started us connects soon, or never.
    this.#leaveIfIdle(startMs);
  }

  /** Serves one connection: a question about the processes, or one use of one of them. */
  serve(socket: Socket): void {
    clearTimeout(this.#lingering);
    this.#sockets.add(socket);
    let isOpened = false;
    let held: HeldProcess | undefined;
    const state = {
      get isOpen() {
        return !socket.destroyed;
      },
    };
    const open = async (message: CommandMessage) => {
      this.#reply(socket, { type: "working" });
      if (message.type !== "attach") return this.#answer(socket, message);
      const attached = await this.#attach(message, userOn(socket));
      if (attached === undefined) return this.#reply(socket, { type: "refused" });
      if (!state.isOpen) return void attached.process.end();
      held = attached.process;
      // From now on the socket closes with the process.
      void held.ended.then(() => socket.end());
      this.#reply(socket, attached.reply);
    };
    readFrames(socket, (kind, bytes) => {
      if (kind === "stdin") return held?.write(bytes);
      const message = kind === "json" ? readCommand(bytes) : undefined;
      if (!message) return void socket.destroy();
      if (!isOpened) {
        isOpened = true;
        void open(message).catch((error: unknown) => this.#reply(socket, failure(error)).end());
      } else if (message.type === "pause") {
        held?.pause();
        this.#reply(socket, { type: "paused" });
      } else if (message.type === "release" && held) {
        const isKept = held.release(message.session);
        if (isKept) held = undefined;
        this.#reply(socket, { type: "released", isKept });
        if (isKept) socket.end();
      } else if (message.type === "end") {
        void held?.end();
        this.#reply(socket, { type: "ending" });
      }
    });
    socket.on("end", () => socket.end());
    socket.on("close", () => {
      // A command that died in the middle of a use leaves a process whose state nobody knows.
      void held?.end();
      this.#sockets.delete(socket);
      this.#leaveIfIdle();
    });
  }

  /** Ends everything, what is in use too. */
  async close(): Promise<void> {
    clearTimeout(this.#lingering);
    this.#isDraining = true;
    await this.#options.processes.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #attach(
    { key, program, keepMs, surroundings: wanted, secrets }: Extract<CommandMessage, { type: "attach" }>,
    user: ProcessUser,
  ): Promise<{ process: HeldProcess; reply: BrokerMessage } | undefined> {
    if (this.#isDraining || wanted !== this.#surroundings) return undefined;
    for (const process of this.#waiting((one) => one.key === key)) {
      const kept = await process.attach(user, keepMs);
      if (kept) return { process, reply: { type: "attached", pid: process.pid, kept } };
    }
    if (!this.#hasRoom(program.server)) return undefined;
    this.#starting++;
    try {
      const started = await this.#options.processes.spawn(program);
      const { now = Date.now } = this.#options;
      const process = new HeldProcess({
        process: started,
        key,
        program,
        secrets,
        keepMs,
        user,
        limits: this.#limits,
        now,
      });
      this.#held.add(process);
      void process.ended.then(() => {
        this.#held.delete(process);
        this.#leaveIfIdle();
      });
      return { process, reply: { type: "attached", pid: process.pid } };
    } finally {
      this.#starting--;
    }
  }

  /** Makes room if it has to: whoever waits longest goes. */
  #hasRoom(server: string): boolean {
    const { maxProcesses, maxPerServer } = this.#limits;
    const own = this.#waiting((process) => process.server === server);
    if (own.length >= maxPerServer) void longestOf(own)?.end();
    if (this.#held.size + this.#starting < maxProcesses) return true;
    const longest = longestOf(this.#waiting(() => true));
    void longest?.end();
    return longest !== undefined;
  }

  #waiting(isMeant: (process: HeldProcess) => boolean): HeldProcess[] {
    return [...this.#held].filter((process) => process.isWaiting && isMeant(process));
  }

  async #answer(socket: Socket, message: CommandMessage): Promise<void> {
    let processes: WarmProcess[] = [];
    if (message.type === "list") processes = [...this.#held].map((one) => one.describe());
    if (message.type === "stop") processes = await this.#stop(message);
    if (message.type === "drain") {
      this.#isDraining = true;
      this.#options.onDrain();
      processes = await this.#stop();
    }
    this.#reply(socket, { type: "processes", processes }).end();
  }

  /** Returns what it ended, and what ends with the command that uses it. */
  async #stop(selection: Selection = {}): Promise<WarmProcess[]> {
    const meant = [...this.#held].filter((process) => process.isMeant(selection));
    const described = meant.map((process) => process.describe());
    const ending = meant.filter((process) => !process.retire());
    await Promise.all(ending.map(({ ended }) => ended));
    return described;
  }

  #reply(socket: Socket, message: BrokerMessage): Socket {
    sendJson(socket, message);
    return socket;
  }

  #leaveIfIdle(afterMs = this.#isDraining ? 0 : this.#limits.lingerMs): void {
    clearTimeout(this.#lingering);
    if (this.#held.size + this.#starting + this.#sockets.size > 0) return;
    this.#lingering = setTimeout(() => this.#options.onIdle(), afterMs);
  }
}

const startMs = 10_000;

function longestOf(waiting: HeldProcess[]): HeldProcess | undefined {
  return waiting.toSorted((a, b) => a.waitsSince - b.waitsSince)[0];
}

function userOn(socket: Socket): ProcessUser {
  return {
    output(kind, bytes, onDrained) {
      const hasRoom = sendBytes(socket, kind, bytes);
      if (!hasRoom) socket.once("drain", onDrained);
      return hasRoom;
    },
    exited: ({ code, signal }) => void sendJson(socket, { type: "exited", code, signal }),
  };
}

function failure(error: unknown): BrokerMessage {
  const { message } = error as Error;
  return { type: "failed", error: isPlugboardError(error) ? error.toJSON() : { code: "internal", message } };
}
