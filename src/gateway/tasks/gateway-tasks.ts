import type { TaskEntry } from "../../index.ts";
import { randomHandle } from "../../lib/random-handle.ts";
import type { Answer, Client } from "../exchange.ts";
import type { PendingQuestion } from "../waiting-calls.ts";
import type { RunningTask } from "./running-task.ts";

const maxPerCaller = 100;

/** The tasks that go on in this process, each for its caller. */
export class GatewayTasks {
  /** A call that takes longer becomes a task, for clients that have them. */
  readonly afterMs: number;
  /** Aborted when the gateway ends: tasks of servers go on without it. */
  readonly leaving = new AbortController();
  /** Answers that are a task of a server. */
  readonly made = new WeakMap<Answer, TaskEntry>();
  readonly #pending = new WeakMap<Answer, PendingQuestion>();
  readonly #tasks = new Map<string, { task: RunningTask; expiry: NodeJS.Timeout }>();

  constructor(afterMs: number) {
    this.afterMs = afterMs;
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

  /** False if this caller has too many that are not over. Makes room by forgetting the oldest that is. */
  hasRoom(caller: string): boolean {
    const own = [...this.#tasks.values()].filter(({ task }) => task.caller === caller);
    if (own.length < maxPerCaller) return true;
    const over = own.find(({ task }) => task.status !== "working" && task.status !== "input_required");
    if (over) this.#forget(over.task.id);
    return over !== undefined;
  }

  add(task: RunningTask): void {
    const expire = () => {
      this.#forget(task.id);
      task.cancel();
    };
    this.#tasks.set(task.id, { task, expiry: setTimeout(expire, Math.min(task.ttlMs, 2 ** 31 - 1)).unref() });
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
    clearTimeout(this.#tasks.get(id)?.expiry);
    this.#tasks.delete(id);
  }
}

function isFor({ caller, server }: RunningTask, client: Client): boolean {
  return caller === client.caller && client.endpoint.servers().has(server);
}
