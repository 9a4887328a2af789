import { isRecord } from "../../lib/record.ts";
import type { Store } from "../../store/store.ts";
import { randomHandle } from "../../lib/random-handle.ts";
import { ownerOf } from "../owned.ts";
import { readTask } from "./task.ts";
import type { TaskProtocol, TaskState, TaskStatus } from "./task.ts";

/** A task that a call became, as it is kept. */
export interface TaskRecord {
  /** Plugboard's own id of it. */
  id: string;
  server: string;
  /** The id of the tool, and the server's name of it. */
  tool: string;
  name: string;
  protocol: TaskProtocol;
  /** The server's id of it. */
  taskId: string;
  /** A mark of what runs or is contacted: another server of this name does not have the task. */
  from: string;
  /** As which account it was made. */
  account?: string;
  /** Made over a connection that callers share: a program knows only the tasks of its own connection. */
  shared: boolean;
  /** The last that was heard. */
  status: TaskStatus;
  /** Milliseconds since the epoch. */
  createdAt: number;
  expiresAt: number;
  /** The keys of inputs that were sent. */
  answered: string[];
}

/** A task that a call became. JSON-safe, without arguments and results. */
export type TaskEntry = Omit<TaskRecord, "answered" | "name" | "taskId" | "shared" | "from">;

export function taskEntry(record: TaskRecord): TaskEntry {
  const {
    answered: _answered,
    name: _name,
    taskId: _taskId,
    shared: _shared,
    from: _from,
    ...entry
  } = record;
  return entry;
}

const limits = { caller: 200, total: 2_000, ttlMs: 7 * 86_400_000, leastTtlMs: 60_000 };

/** The tasks of all callers, each visible to its caller only. The oldest go when there are too many. */
export class TaskRecords {
  readonly #store: Store;
  readonly #now: () => number;

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  async add(
    caller: string | undefined,
    { taskId, status, ttlMs }: TaskState,
    about: Pick<TaskRecord, "server" | "tool" | "name" | "protocol" | "account" | "shared" | "from">,
  ): Promise<TaskRecord> {
    const createdAt = this.#now();
    const keptMs = Math.min(Math.max(ttlMs ?? limits.ttlMs, limits.leastTtlMs), limits.ttlMs);
    const id = randomHandle("t");
    const record = { ...about, id, taskId, status, createdAt, expiresAt: createdAt + keptMs, answered: [] };
    await this.save(caller, record);
    await this.#shrink(caller);
    return record;
  }

  /** Another caller's id gives nothing, like an unknown one. */
  async get(caller: string | undefined, id: string): Promise<TaskRecord | undefined> {
    if (!/^t_[a-z2-7]{20}$/.test(id)) return undefined;
    return this.#parse((await this.#store.get(keyOf(caller, id)))?.value);
  }

  /** The oldest first. */
  async list(caller: string | undefined): Promise<TaskRecord[]> {
    const entries = await this.#store.list(prefixOf(caller), { limit: limits.total });
    const records = entries.flatMap(({ value }) => this.#parse(value) ?? []);
    return records.toSorted((one, other) => one.createdAt - other.createdAt);
  }

  async save(caller: string | undefined, record: TaskRecord): Promise<void> {
    const ttlMs = Math.max(1, record.expiresAt - this.#now());
    await this.#store.set(keyOf(caller, record.id), record, { ttlMs });
  }

  async remove(caller: string | undefined, { id }: TaskRecord): Promise<void> {
    await this.#store.delete(keyOf(caller, id));
  }

  async #shrink(caller: string | undefined): Promise<void> {
    const own = await this.list(caller);
    for (const record of own.slice(0, Math.max(0, own.length - limits.caller)))
      await this.remove(caller, record);
    const all = await this.#store.list("task/", { limit: limits.total + limits.caller });
    if (all.length <= limits.total) return;
    const oldest = all.toSorted((one, other) => createdAt(one.value) - createdAt(other.value));
    for (const { key } of oldest.slice(0, all.length - limits.total)) await this.#store.delete(key);
  }

  /** Undefined for an invalid record, for instance from another version of the program. */
  #parse(value: unknown): TaskRecord | undefined {
    if (!isRecord(value) || !Array.isArray(value["answered"])) return undefined;
    const isSound =
      ["id", "server", "tool", "name", "from"].every((field) => typeof value[field] === "string") &&
      (value["protocol"] === "extension" || value["protocol"] === "2025-11-25") &&
      readTask(value, "extension") !== undefined &&
      typeof value["shared"] === "boolean" &&
      typeof value["createdAt"] === "number" &&
      typeof value["expiresAt"] === "number";
    const record = value as unknown as TaskRecord;
    return isSound && record.expiresAt > this.#now() ? record : undefined;
  }
}

function createdAt(value: unknown): number {
  return isRecord(value) && typeof value["createdAt"] === "number" ? value["createdAt"] : 0;
}

function prefixOf(caller: string | undefined): string {
  return `task/${ownerOf(caller) || "-"}/`;
}

function keyOf(caller: string | undefined, id: string): string {
  return `${prefixOf(caller)}${id}`;
}
