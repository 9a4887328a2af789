import { randomUUID } from "node:crypto";
import { checkCapabilities, isAnswer, type Call } from "./call.ts";
import { RpcFailure, fieldsOf, metaKey, type Fields, type Question } from "./wire.ts";

const ttlMs = 300_000;

interface Task {
  readonly taskId: string;
  readonly createdAt: string;
  lastUpdatedAt: string;
  /** The part that depends on the status. */
  state: Fields & { status: string };
  readonly open: Map<string, { question: Question; answer(value: Fields): void }>;
  readonly end: AbortController;
  /** Wakes whoever waits for a change. */
  readonly waiting: Set<() => void>;
}

/** The tasks of the 2026-07-28 revision's extension, and those of 2025-11-25. */
export class Tasks {
  readonly #tasks = new Map<string, Task>();

  /** Starts a task, and returns what the call is answered with. */
  start(
    call: Call,
    work: (call: Call) => Promise<Fields>,
    finish: (work: Promise<Fields>) => Promise<Fields>,
  ): Fields {
    const createdAt = new Date().toISOString();
    const task: Task = {
      taskId: randomUUID(),
      createdAt,
      lastUpdatedAt: createdAt,
      state: { status: "working" },
      open: new Map(),
      end: new AbortController(),
      waiting: new Set(),
    };
    this.#tasks.set(task.taskId, task);
    setTimeout(() => this.#tasks.delete(task.taskId), ttlMs).unref();
    const inTask: Call = {
      ...call,
      signal: task.end.signal,
      ask: (questions) => this.#ask(task, questions, call.can),
      later: (rest) => rest(inTask),
    };
    finish(work(inTask)).then(
      (result) => this.#enter(task, { status: "completed", result }),
      (error: unknown) => this.#enter(task, { status: "failed", error: failureOf(error) }),
    );
    return { resultType: "task", ...describe(task), status: "working" };
  }

  get({ taskId }: Fields): Fields {
    const task = this.#find(taskId);
    return { ...describe(task), ...task.state };
  }

  update({ taskId, inputResponses }: Fields): Fields {
    const task = this.#find(taskId);
    for (const [key, value] of Object.entries(fieldsOf(inputResponses))) {
      const open = task.open.get(key);
      if (open && isAnswer(open.question, value)) open.answer(value);
    }
    return {};
  }

  cancel({ taskId }: Fields): Fields {
    const task = this.#find(taskId);
    this.#enter(task, { status: "cancelled" });
    task.end.abort();
    return {};
  }

  /** A task in the words of 2025-11-25. */
  describeLegacy({ taskId }: Fields): Fields {
    const task = this.#find(taskId);
    const { ttlMs: ttl, pollIntervalMs: pollInterval, ...rest } = describe(task);
    const { status, result } = task.state;
    const isFailed = fieldsOf(result)["isError"] === true;
    return { ...rest, ttl, pollInterval, status: isFailed ? "failed" : status };
  }

  list(): Fields {
    return { tasks: [...this.#tasks.values()].map(({ taskId }) => this.describeLegacy({ taskId })) };
  }

  /** Of 2025-11-25: waits for the end, and asks meanwhile. */
  async result(
    { taskId }: Fields,
    ask: (questions: Record<string, Question>) => Promise<Record<string, Fields>>,
  ): Promise<Fields> {
    const task = this.#find(taskId);
    const _meta = { [metaKey("related-task")]: { taskId } };
    while (!isOver(task.state)) {
      const questions = [...task.open].map(([key, { question }]) => [
        key,
        { ...question, params: { ...question.params, _meta } },
      ]);
      if (questions.length === 0) await new Promise<void>((resolve) => task.waiting.add(resolve));
      else this.update({ taskId, inputResponses: await ask(Object.fromEntries(questions)) });
    }
    const { status, result, error } = task.state;
    if (status === "completed") return { ...fieldsOf(result), _meta };
    const { code, message } = fieldsOf(error);
    throw new RpcFailure(
      Number(code ?? -32000),
      typeof message === "string" ? message : "The task was cancelled",
    );
  }

  async #ask<Key extends string>(
    task: Task,
    questions: Record<Key, Question>,
    can: Call["can"],
  ): Promise<Record<Key, Fields>> {
    checkCapabilities(questions, can);
    const answers: Record<string, Fields> = {};
    const answered = Object.entries<Question>(questions).map(
      ([key, question]) =>
        new Promise<void>((resolve) => {
          const answer = (value: Fields) => {
            answers[key] = value;
            task.open.delete(key);
            this.#enter(task, stateOf(task));
            resolve();
          };
          task.open.set(key, { question, answer });
        }),
    );
    this.#enter(task, stateOf(task));
    await Promise.all(answered);
    return answers;
  }

  #enter(task: Task, state: Task["state"]): void {
    if (isOver(task.state)) return;
    task.state = state;
    task.lastUpdatedAt = new Date().toISOString();
    for (const wake of task.waiting) wake();
    task.waiting.clear();
  }

  #find(taskId: unknown): Task {
    const task = this.#tasks.get(String(taskId));
    if (task === undefined) throw new RpcFailure(-32602, "Unknown task");
    return task;
  }
}

const isOver = ({ status }: Task["state"]): boolean => ["completed", "failed", "cancelled"].includes(status);

const describe = ({ taskId, createdAt, lastUpdatedAt }: Task): Fields => ({
  taskId,
  createdAt,
  lastUpdatedAt,
  ttlMs,
  pollIntervalMs: 100,
});

function stateOf({ open }: Task): Task["state"] {
  if (open.size === 0) return { status: "working" };
  const inputRequests = Object.fromEntries([...open].map(([key, { question }]) => [key, question]));
  return { status: "input_required", inputRequests };
}

const failureOf = (error: unknown): Fields =>
  error instanceof RpcFailure ? error.toJSON() : { code: -32603, message: (error as Error).message };
