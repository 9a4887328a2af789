import { randomHandle } from "../../lib/random-handle.ts";
import type { Announced, Store } from "../../store/store.ts";
import { ownerOf } from "../owned.ts";
import { parseMark, parseQuestion, parseVerdict } from "./question.ts";
import type { KnownQuestion, QuestionMark, StoredVerdict } from "./question.ts";

const limits = { caller: 100, total: 1_000, bytes: 262_144, verdicts: 10_000 };
/** How often it is looked whether there are too many verdicts. */
const shrinkEvery = 256;
/** How long it is remembered what became of a question, for those who answer late. */
const lateMs = 86_400_000;

/** The questions of all callers in the store. See docs/decisions/0020. */
export class QuestionRecords {
  readonly #opened: () => Promise<Store>;
  readonly #now: () => number;
  /** Shows other processes that this one is there to hear an answer. */
  #presence: Promise<Announced> | undefined;
  #settled = 0;
  #name: string | undefined;

  constructor(store: () => Promise<Store>, now: () => number) {
    this.#opened = store;
    this.#now = now;
  }

  /** Names this process, for as long as it is there. */
  get waiter(): string {
    return (this.#name ??= randomHandle("approvals"));
  }

  /** Writes a new question that a request of this process waits for. Returns why it cannot be kept, if so. */
  async add(known: KnownQuestion): Promise<string | undefined> {
    const { question } = known;
    const { id, caller, expiresAt } = question;
    if (JSON.stringify(known).length > limits.bytes)
      return "its arguments are too long to be kept for a person";
    const owner = ownerOf(caller) || "-";
    const marks = await this.marks();
    if (marks.length >= limits.total) return "too many calls wait for approval already";
    if (marks.filter((one) => one.owner === owner).length >= limits.caller)
      return "too many calls of this caller wait for approval already";
    await this.#announce();
    // Longer than it waits, to tell one that has expired from one that never was.
    const ttlMs = this.#left(expiresAt) + lateMs;
    const whole = { ...known, asker: this.waiter };
    await (await this.#opened()).set(`question/${id}`, whole, { ttlMs });
    await (await this.#opened()).set(`asked/${id}`, { owner, expiresAt, waiter: this.waiter }, { ttlMs });
    return undefined;
  }

  async get(id: string): Promise<KnownQuestion | undefined> {
    if (!/^[a-z]_[a-z2-7]{20}$/.test(id)) return undefined;
    return parseQuestion((await (await this.#opened()).get(`question/${id}`))?.value);
  }

  /** From now on its client holds it: no process has to be there. */
  async leave(id: string): Promise<void> {
    await this.#remark(id, ({ waiter: _waiter, ...left }) => left);
  }

  /** Changes the mark of a question that has no verdict yet. */
  async #remark(id: string, change: (mark: QuestionMark) => QuestionMark): Promise<void> {
    const store = await this.#opened();
    for (;;) {
      const stored = await store.get(`asked/${id}`);
      const mark = parseMark(stored?.value);
      if (!stored || !mark) return;
      const ttlMs = this.#left(mark.expiresAt) + lateMs;
      // Not one that was removed meanwhile: it has a verdict.
      const version = await store.compareAndSet(`asked/${id}`, stored.version, change(mark), { ttlMs });
      if (version !== undefined) return;
    }
  }

  /** All questions without a verdict, whether anybody still waits or not. Forgets those that have expired. */
  async marks(): Promise<(QuestionMark & { id: string })[]> {
    const entries = await (await this.#opened()).list("asked/", { limit: 2 * limits.total });
    const marks: (QuestionMark & { id: string })[] = [];
    for (const { key, value } of entries) {
      const id = key.slice("asked/".length);
      const mark = parseMark(value);
      const isOver = mark?.isSettling && (await this.verdict(id)) !== undefined;
      if (isOver) await (await this.#opened()).delete(key);
      else if (mark && mark.expiresAt > this.#now()) marks.push({ ...mark, id });
      else {
        await this.settle(id, { state: "expired", at: this.#now() }, this.#now());
        await this.forget(id);
      }
    }
    return marks;
  }

  /** The ids of the questions that certainly have no verdict. */
  async open(): Promise<Set<string>> {
    const entries = await (await this.#opened()).list("asked/", { limit: 2 * limits.total });
    const open = entries.filter(({ value }) => !parseMark(value)?.isSettling);
    return new Set(open.map(({ key }) => key.slice("asked/".length)));
  }

  /** False if the process whose request waited has ended. */
  async isAwaited(id: string): Promise<boolean> {
    const waiter = parseMark((await (await this.#opened()).get(`asked/${id}`))?.value)?.waiter;
    return waiter === undefined || this.isRunning(waiter);
  }

  /** Whether a process that asked has not ended. */
  async isRunning(waiter: string): Promise<boolean> {
    if (waiter === this.waiter) return true;
    return (await (await this.#opened()).presence.members(waiter)).length > 0;
  }

  async verdict(id: string): Promise<{ verdict: StoredVerdict; version: number } | undefined> {
    const stored = await (await this.#opened()).get(`verdict/${id}`);
    const verdict = parseVerdict(stored?.value);
    return stored && verdict && { verdict, version: stored.version };
  }

  /** Writes the only verdict of a question; false if there is one. */
  async settle(id: string, verdict: StoredVerdict, expiresAt: number): Promise<boolean> {
    const store = await this.#opened();
    const ttlMs = this.#left(expiresAt) + lateMs;
    await this.#remark(id, (mark) => ({ ...mark, isSettling: true }));
    const isFirst = (await store.compareAndSet(`verdict/${id}`, undefined, verdict, { ttlMs })) !== undefined;
    // From here on it has a verdict, even if a later step fails.
    if (isFirst) await store.delete(`asked/${id}`).catch(() => undefined);
    if (++this.#settled % shrinkEvery === 0) await this.#shrink().catch(() => undefined);
    return isFirst;
  }

  /** Replaces a verdict, if nobody else did. What was asked is forgotten. */
  async replace(id: string, version: number, verdict: StoredVerdict): Promise<boolean> {
    const ttlMs = lateMs;
    const isOurs =
      (await (await this.#opened()).compareAndSet(`verdict/${id}`, version, verdict, { ttlMs })) !==
      undefined;
    if (isOurs) await this.forget(id);
    return isOurs;
  }

  /** What cannot be removed expires. */
  async forget(id: string): Promise<void> {
    const store = await this.#opened();
    for (const part of ["question", "asked", "told"])
      await store.delete(`${part}/${id}`).catch(() => undefined);
  }

  /** True if the webhook has accepted the question. */
  async isTold(id: string): Promise<boolean> {
    return (await (await this.#opened()).get(`told/${id}`)) !== undefined;
  }

  async told(id: string, expiresAt: number): Promise<void> {
    await (await this.#opened()).set(`told/${id}`, true, { ttlMs: this.#left(expiresAt) });
  }

  /** False if other processes do not see the questions of this one. */
  async isDurable(): Promise<boolean> {
    return (await this.#opened()).durable;
  }

  async close(): Promise<void> {
    await (await this.#presence?.catch(() => undefined))?.leave().catch(() => undefined);
  }

  /** Once for the whole process. Others see when it ends. */
  async #announce(): Promise<void> {
    this.#presence ??= this.#opened().then((store) => store.presence.announce(this.waiter, true));
    await this.#presence.catch((error: unknown) => {
      this.#presence = undefined;
      throw error;
    });
  }

  /** A client can ask and give up as often as it likes. The oldest outcomes go, but no answer that waits for its call. */
  async #shrink(): Promise<void> {
    const store = await this.#opened();
    const all = await store.list("verdict/", { limit: 2 * limits.verdicts });
    const over = all.flatMap(({ key, value }) => {
      const verdict = parseVerdict(value);
      return verdict?.state === "approved" ? [] : [{ key, at: verdict?.at ?? 0 }];
    });
    const oldest = over.toSorted((one, other) => one.at - other.at);
    for (const { key } of oldest.slice(0, Math.max(0, all.length - limits.verdicts))) await store.delete(key);
  }

  #left(expiresAt: number): number {
    return Math.max(1, expiresAt - this.#now());
  }
}
