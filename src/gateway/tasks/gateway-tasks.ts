import type { TaskEntry } from "../../host.ts";
import { randomHandle } from "../../lib/random-handle.ts";
import type { Answer, Client } from "../exchange.ts";
import type { Holding } from "../holding.ts";
import type { Ledger } from "../ledger.ts";
import type { PendingQuestion } from "../waiting-calls.ts";
import type { RunningTask } from "./running-task.ts";

/** The tasks that go on in this process, each for its caller. */
export class GatewayTasks {
  /** A call that takes longer becomes a task, for clients that have them. */
  readonly afterMs: number;
  /** Aborted when the gateway ends: tasks of servers go on without it. */
  readonly leaving = new AbortController();
  /** Answers that are a task of a server. */
  readonly made = new WeakMap<Answer, TaskEntry>();
  readonly #pending = new WeakMap<Answer, PendingQuestion>();
  readonly #tasks = new Map<string, { task: RunningTask; expiry: NodeJS.Timeout; holding: Holding }>();
  readonly #ledger: Ledger;

  constructor(afterMs: number, ledger: Ledger) {
    this.afterMs = afterMs;
    this.#ledger = ledger;
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** An id that cannot be guessed, for a task that no server knows. */
  newId(): string {
    return randomHandle("g");
  }

  /** The answer of a call that waits for approval: the task that it belongs to goes on with it. */
  pending(question: PendingQuestion): Answer {
    const answer: Answer = { result: { resultType: "complete", content: [], isError: true } };
    this.#pending.set(answer, question);
    return answer;
  }

  pendingIn(answer: Answer): PendingQuestion | undefined {
    return this.#pending.get(answer);
  }

  /**
   * False if there are too many that are not over. Makes room by forgetting the oldest that is. A task keeps the bytes of
   * its request and of what it asks until it is over, and those of its outcome from then on.
   */
  add(task: RunningTask, requestBytes = 0): boolean {
    const isRunning = () => task.status === "working" || task.status === "input_required";
    const evict = () => this.#forget(task.id);
    const holding = this.#ledger.hold(task.caller, "tasks", { isBusy: isRunning, evict }, requestBytes);
    if (!holding) return false;
    const expire = () => {
      this.#forget(task.id);
      task.cancel();
    };
    const expiry = setTimeout(expire, Math.min(task.ttlMs, 2 ** 31 - 1)).unref();
    this.#tasks.set(task.id, { task, expiry, holding });
    let counted = requestBytes;
    const stop = task.onChange(() => {
      const bytes = task.heldBytes + (isRunning() ? requestBytes : 0);
      if (!isRunning()) stop();
      const hasRoom = bytes === counted || holding.grow(bytes - counted);
      counted = bytes;
      if (!hasRoom && isRunning()) task.fail(tooMuchAsked);
    });
    return true;
  }

  /** A task of this caller, at a server that the endpoint shows. */
  get(id: string, client: Client): RunningTask | undefined {
    const task = this.#tasks.get(id)?.task;
    return task && isFor(task, client) ? task : undefined;
  }

  list(client: Client): RunningTask[] {
    return [...this.#tasks.values()].map(({ task }) => task).filter((task) => isFor(task, client));
  }

  close(): void {
    this.leaving.abort();
    for (const [id, { task }] of this.#tasks) {
      this.#forget(id);
      task.cancel();
    }
  }

  #forget(id: string): void {
    const known = this.#tasks.get(id);
    clearTimeout(known?.expiry);
    known?.holding.release();
    this.#tasks.delete(id);
  }
}

const tooMuchAsked = { code: -32_603, message: "The server asks for more than is kept for one client." };

function isFor({ caller, server }: RunningTask, client: Client): boolean {
  return caller === client.caller && client.endpoint.servers().has(server);
}
