import type { ApprovalRecord } from "../calls/approvals/record.ts";
import type { Recalled, RememberedApprovals } from "../calls/approvals/remembered.ts";
import type { ApprovalAnswer } from "../calls/queue/answer.ts";
import type { WaitingQuestion } from "../calls/queue/question.ts";
import type { AnsweredQuestion, FoundQuestion } from "../calls/queue/parking.ts";
import type { ApprovalQueue } from "../calls/queue/queue.ts";
import type { AnswerPlace } from "../calls/queue/webhook.ts";
import { changedWords, coversWords } from "../calls/approvals/words.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { LoadedConfig } from "../config/model.ts";
import { PlugboardError } from "../errors.ts";
import type { Remembering } from "../interact/interact.ts";

/** A remembered answer. JSON-safe. */
export interface ApprovalEntry extends Omit<ApprovalRecord, "place" | "entry" | "definition"> {
  remembered: Remembering;
  /** What it covers, in words. */
  covers: string;
  /** Why it does not count here or now; the question would be asked again. */
  stale?: string;
}

/** Which answers to forget. */
export type RevokedApprovals = { id: string } | { server: string } | { all: true };

/** The calls that wait for approval, and the answers that a hub remembers, of all callers. */
export class Approvals {
  readonly #remembered: RememberedApprovals;
  readonly #queue: ApprovalQueue;
  readonly #config: () => LoadedConfig;

  constructor(remembered: RememberedApprovals, queue: ApprovalQueue, config: () => LoadedConfig) {
    this.#remembered = remembered;
    this.#queue = queue;
    this.#config = config;
  }

  /** The questions about calls that wait for an answer, of all processes that share the store, the oldest first. */
  waiting(): Promise<WaitingQuestion[]> {
    return this.#queue.waiting();
  }

  /** A question that waits, or whose answer waits for its client. */
  find(id: string): Promise<FoundQuestion | undefined> {
    return this.#queue.find(id);
  }

  /**
   * Answers a waiting question, once; what it says to remember is remembered at once. Throws `question-over` if it does not wait any more, and `usage-invalid` for what is
   * not an answer to it; the question then still waits.
   */
  answer(id: string, answer: ApprovalAnswer): Promise<AnsweredQuestion> {
    return this.#queue.answer(id, answer);
  }

  /** Nobody wants the call any more: a later answer runs nothing. */
  withdraw(id: string): Promise<void> {
    return this.#queue.withdraw(id);
  }

  /** Resolves when a question does not wait any more. */
  settled(id: string, signal: AbortSignal): Promise<void> {
    return this.#queue.settled(id, signal);
  }

  /** Says where a question can be answered over HTTP, so that the webhook's receiver can be told. */
  answerAt(place: (id: string) => AnswerPlace): void {
    this.#queue.answerAt(place);
  }

  /** Tells the webhook of the calls that wait since before this process: once it can be answered. */
  tellWaiting(): Promise<void> {
    return this.#queue.tellWaiting();
  }

  /** The remembered answers, the oldest first. Fails with `store-unavailable` if they cannot be read. */
  async list(): Promise<ApprovalEntry[]> {
    return (await this.#remembered.list()).map((one) => this.entry(one));
  }

  /** Forgets answers and returns them; the next call is asked about again. Other processes follow within a second. */
  async revoke(which: RevokedApprovals): Promise<ApprovalEntry[]> {
    const revoked = await this.#remembered.revoke(
      (record) =>
        ("id" in which && record.id === which.id) ||
        ("server" in which && record.server === which.server) ||
        ("all" in which && which.all),
    );
    if (revoked.length === 0 && "id" in which)
      throw new PlugboardError("usage-invalid", `There is no remembered answer "${which.id}".`, {
        hint: "Run `plugboard approvals list` to see the answers.",
      });
    return revoked.map((one) => this.entry(one));
  }

  /** @internal */
  entry({ record, remembered }: Recalled, tool?: ToolEntry): ApprovalEntry {
    const { place: _place, entry: _entry, definition: _definition, ...rest } = record;
    const stale = this.#stale(record, tool);
    return { ...rest, remembered, covers: coversWords(record), ...(stale !== undefined && { stale }) };
  }

  #stale(record: ApprovalRecord, tool: ToolEntry | undefined): string | undefined {
    const entry = this.#config().servers.get(record.server);
    if (entry?.baseDir !== record.folder) return `it is about the server in ${record.folder}`;
    const changed = this.#remembered.changed(record, { entry, tool });
    return changed && changedWords(changed);
  }
}
