import { defaultExpireMs } from "../../config/approvals-schema.ts";
import { PlugboardError, isPlugboardError } from "../../errors.ts";
import type { ApprovalSettled } from "../../events.ts";
import type { Approval, ApproveQuestion } from "../../interact/interact.ts";
import { randomHandle } from "../../lib/random-handle.ts";
import { mistakeIn } from "./answer.ts";
import type { ApprovalAnswer } from "./answer.ts";
import { AnswerListeners } from "./listeners.ts";
import type { AnsweredQuestion, FoundQuestion, LaterAnswer, QueueSettings, Waiting } from "./parking.ts";
import { parseRecord } from "../approvals/record.ts";
import type { ApprovalRecord } from "../approvals/record.ts";
import type { Kept } from "../approvals/remembered.ts";
import { definitionHash, digestOf } from "./question.ts";
import type { KnownQuestion, QuestionState, StoredVerdict, WaitingQuestion } from "./question.ts";
import { QuestionRecords } from "./records.ts";
import { ApprovalWebhook } from "./webhook.ts";
import type { AnswerPlace } from "./webhook.ts";
import { overError, pending, progressOf, stateWords } from "./words.ts";

/** How often those who wait look whether their client is still there, and whether time is up; that asks no store. */
const lookMs = 250;
const progressMs = 10_000;

/** Calls that wait until somebody approves them, in any process of this user. See docs/decisions/0020. */
export class ApprovalQueue {
  readonly #settings: QueueSettings;
  readonly #records: QuestionRecords;
  readonly #listeners: AnswerListeners;
  readonly #webhook: ApprovalWebhook;
  #answerPlace: ((id: string) => AnswerPlace) | undefined;
  /** Calls that wait here, until what became of them is written down. */
  readonly #asking = new Set<Promise<unknown>>();

  constructor(settings: QueueSettings) {
    this.#settings = settings;
    const records = (this.#records = new QuestionRecords(settings.store, settings.now));
    this.#listeners = new AnswerListeners({ store: settings.store, open: () => records.open() });
    this.#webhook = new ApprovalWebhook({
      ...settings,
      ...settings.sources,
      isWanted: async (question) =>
        (await this.#stateOf(question)) === "waiting" && !(await records.isTold(question.id)),
      onTold: ({ id, expiresAt }) => records.told(id, expiresAt),
      onAnswer: ({ id }, answer) => this.answer(id, answer),
      answerPlace: ({ id }) => this.#answerPlace?.(id),
    });
  }

  /** Says where a question can be answered over HTTP, so that the webhook's receiver can be told. */
  answerAt(place: (id: string) => AnswerPlace): void {
    this.#answerPlace = place;
  }

  /** The questions that wait for an answer, the oldest first. */
  async waiting(): Promise<WaitingQuestion[]> {
    const found: WaitingQuestion[] = [];
    for (const { id } of await this.#records.marks()) {
      const known = await this.#records.get(id);
      if (known && (await this.#stateOf(known.question)) === "waiting") found.push(known.question);
    }
    return found.toSorted((one, other) => one.createdAt - other.createdAt);
  }

  /** A question that waits, or whose answer waits for its client. */
  async find(id: string): Promise<FoundQuestion | undefined> {
    const known = await this.#records.get(id);
    return known && { ...known, state: await this.#stateOf(known.question) };
  }

  /**
   * Answers a question, once. Throws `question-over` if it does not wait any more, and `usage-invalid` for what is not an
   * answer to it; the question then still waits.
   */
  async answer(id: string, answer: ApprovalAnswer): Promise<AnsweredQuestion> {
    const known = await this.#records.get(id);
    const { question } = known ?? {};
    const mistake = mistakeIn(answer, question);
    if (mistake) throw mistake;
    if (!question) throw overError(id, (await this.#records.verdict(id))?.verdict.state);
    const { digest: _digest, ...approval } = answer;
    const state: StoredVerdict["state"] = approval.decision === "allow" ? "approved" : "denied";
    const before = await this.#stateOf(question);
    if (before !== "waiting") throw overError(id, before, question);
    const keep = await this.#keeping(approval, known);
    const verdict = {
      state,
      approval: { ...approval, ...(keep && { isKept: true }) },
      digest: question.digest,
    };
    if (!(await this.#settle(question, verdict)))
      throw overError(id, (await this.#records.verdict(id))?.verdict.state, question);
    return { question, state, ...(await keep?.()) };
  }

  /**
   * How to remember an answer now: its client may come back late or never. Undefined if there is nothing to remember, or
   * the process for whose session it is has ended: then the one that the client comes to remembers it.
   */
  async #keeping(
    approval: Approval,
    known: KnownQuestion | undefined,
  ): Promise<(() => Promise<Kept>) | undefined> {
    const remember = approval.decision === "allow" ? approval.remember : undefined;
    const record = parseRecord(known?.record);
    const { asker } = known ?? {};
    if (remember === undefined || !record) return undefined;
    if (remember === "session" && !(asker !== undefined && (await this.#records.isRunning(asker))))
      return undefined;
    const { remember: keep, now } = this.#settings;
    return () => keep({ ...record, at: now() }, remember, asker === this.process ? undefined : asker);
  }

  /** Names this process among those that share the store. */
  get process(): string {
    return this.#records.waiter;
  }

  /** True if calls wait here for an answer. */
  get isOn(): boolean {
    return this.#settings.settings().approvals?.queue === true;
  }

  /** Tells the webhook of what waits since before this process, unless another one does. */
  async tellWaiting(): Promise<void> {
    if (!this.isOn || !this.#settings.settings().approvals?.webhook) return;
    for (const question of await this.waiting()) {
      const { asker } = (await this.#records.get(question.id)) ?? {};
      const isOthers =
        asker !== undefined && asker !== this.process && (await this.#records.isRunning(asker));
      if (!isOthers) this.#webhook.tell(question);
    }
  }

  /** Nobody wants the call any more. */
  async withdraw(id: string): Promise<void> {
    const known = await this.#records.get(id);
    if (!known) return;
    const stored = await this.#records.verdict(id);
    const gone = { state: "gone", at: this.#settings.now() } as const;
    if (stored?.verdict.state === "approved") {
      if (await this.#records.replace(id, stored.version, gone)) this.#tellSettled(known.question, "gone");
    } else await this.#settle(known.question, gone);
    await this.#records.forget(id);
  }

  /** The answer of somebody who did not allow the call. */
  async denial(id: string): Promise<Approval | undefined> {
    const { state, approval } = (await this.#records.verdict(id))?.verdict ?? {};
    return state === "denied" ? approval : undefined;
  }

  /** Resolves when a question does not wait any more. */
  async settled(id: string, signal: AbortSignal): Promise<void> {
    using answer = await this.#listeners.listen(id);
    const known = await this.#records.get(id);
    if (!known) return;
    for (;;) {
      const isTold = await answer.next(lookMs, signal);
      const mayBeOver = isTold || this.#isExpired(known.question);
      if (mayBeOver && (await this.#stateOf(known.question)) !== "waiting") return;
    }
  }

  /** How a call that needs approval gets it later; undefined if it does not wait. */
  later(waiting: Waiting): LaterAnswer | undefined {
    const { expireMs = defaultExpireMs } = this.#settings.settings().approvals ?? {};
    if (!this.isOn) return undefined;
    const id = waiting.parking?.question ?? waiting.parking?.id?.() ?? randomHandle("q");
    let parked: WaitingQuestion | undefined;
    const park: LaterAnswer["park"] = async (question, record) => {
      parked = await this.#closed(waiting, () => this.#question(question, record, waiting, expireMs));
      this.#webhook.tell(parked);
    };
    const ask = (_question: ApproveQuestion, signal: AbortSignal) => {
      const question = parked as WaitingQuestion;
      const asking = this.#closed(waiting, () => this.#wait(question, waiting, signal));
      const ended = asking.then(
        () => undefined,
        () => undefined,
      );
      this.#asking.add(ended);
      void ended.then(() => this.#asking.delete(ended));
      return asking;
    };
    // The clock of the store decides; this is for the case that it stands still.
    return { id, deadlineMs: expireMs + 60_000, park, ask };
  }

  /** Resolves when the questions of this process are withdrawn, after their calls were given up. */
  async close(): Promise<void> {
    await Promise.all(this.#asking);
    await this.#webhook.close();
    await this.#listeners.close();
    await this.#records.close();
  }

  /** Without the store nothing is allowed. */
  async #closed<T>({ refused }: Waiting, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isPlugboardError(error, "store-unavailable")) throw error;
      throw refused(`the question about it could not be stored (${error.message})`, error.hint);
    }
  }

  /** The stored question about this call, which is a new one unless the call comes back to it. */
  async #question(
    { kind: _kind, ...asked }: ApproveQuestion,
    record: ApprovalRecord | undefined,
    waiting: Waiting,
    expireMs: number,
  ): Promise<WaitingQuestion> {
    const { tool, caller, account, parking, refused } = waiting;
    const exact = waiting.exact?.();
    const digest = digestOf({ ...waiting, exact });
    if (parking?.question !== undefined) {
      const known = await this.#records.get(parking.question);
      if (!known) throw refused(await this.#whyOver(parking.question));
      if (known.question.digest !== digest)
        throw refused("the question was about another call, or the tool or its server has changed since");
      return known.question;
    }
    if (this.#settings.mustBeShared && !(await this.#records.isDurable()))
      throw refused(
        "the question about it could not be stored where somebody could answer it",
        "Make the state folder writable; `plugboard config path` shows it.",
      );
    const createdAt = this.#settings.now();
    const question: WaitingQuestion = {
      ...asked,
      ...(caller !== undefined && { caller }),
      ...(account !== undefined && { account }),
      ...(exact !== undefined && { exact }),
      definition: definitionHash(tool),
      digest,
      createdAt,
      expiresAt: createdAt + expireMs,
    };
    const problem = await this.#records.add({ question, kept: parking?.kept?.(), record });
    if (problem !== undefined) throw refused(problem);
    const { expiresAt } = question;
    this.#settings.emit({ type: "approval-parked", ...aboutQuestion(question), expiresAt, at: createdAt });
    return question;
  }

  async #wait(question: WaitingQuestion, waiting: Waiting, signal: AbortSignal): Promise<Approval> {
    const { id, server } = question;
    const { parking, onProgress } = waiting;
    const began = performance.now();
    const leaveAfterMs = parking?.leaveAfterMs ?? Infinity;
    let told = 0;
    try {
      using answer = await this.#listeners.listen(id);
      for (let waitMs = 0; ; waitMs = lookMs) {
        const isTold = await answer.next(
          Math.min(waitMs, leaveAfterMs - (performance.now() - began)),
          signal,
        );
        if (parking?.isThere?.() === false) throw await this.#gone(question);
        const isExpired = this.#isExpired(question);
        const approval =
          isTold || isExpired ? await unlessBusy(() => this.#answerTo(question, waiting)) : undefined;
        if (approval) return approval;
        if (isExpired && (await unlessBusy(() => this.#stateOf(question))) === "expired")
          throw new PlugboardError("question-declined", `Nobody answered the question ${id} in time.`, {
            server,
          });
        const passed = performance.now() - began;
        if (passed >= leaveAfterMs || parking?.isLeaving?.()) {
          if (!parking?.isOurs) await this.#records.leave(id);
          throw pending(question);
        }
        if (passed >= told * progressMs) onProgress?.(progressOf(question, told++));
      }
    } catch (error) {
      const isOver = signal.aborted || isPlugboardError(error, "store-unavailable");
      // Nobody may allow what does not wait any more. A client that came with a state still has it.
      if (isOver && parking?.question === undefined) await this.withdraw(id).catch(() => undefined);
      throw error;
    }
  }

  /** The answer, if there is one. Uses it up: of all that come for it, one call gets it. */
  async #answerTo(question: WaitingQuestion, { refused }: Waiting): Promise<Approval | undefined> {
    const { id, digest } = question;
    const stored = await this.#records.verdict(id);
    if (!stored) return undefined;
    const { verdict, version } = stored;
    const { state, approval } = verdict;
    if (state === "denied" && approval) {
      await this.#records.forget(id);
      return approval;
    }
    if (state === "approved" && question.expiresAt <= this.#settings.now()) throw refused(stateWords.expired);
    const isUsable = state === "approved" && approval && verdict.digest === digest;
    const used = { state: "used", at: this.#settings.now() } as const;
    if (isUsable && (await this.#records.replace(id, version, used))) return approval;
    throw refused(await this.#whyOver(id));
  }

  #isExpired({ expiresAt }: WaitingQuestion): boolean {
    return expiresAt <= this.#settings.now();
  }

  async #gone({ id, server }: WaitingQuestion): Promise<PlugboardError> {
    await this.withdraw(id);
    const message = `The call was given up while it waited for approval (${id}).`;
    return new PlugboardError("call-cancelled", message, { server, executed: "no" });
  }

  async #whyOver(id: string): Promise<string> {
    return stateWords[(await this.#records.verdict(id))?.verdict.state ?? "expired"];
  }

  /** What is true now. Writes down what nobody has noticed yet. */
  async #stateOf(question: WaitingQuestion): Promise<QuestionState> {
    const { id } = question;
    const isExpired = this.#isExpired(question);
    const verdict = (await this.#records.verdict(id))?.verdict;
    if (verdict) return verdict.state === "approved" && isExpired ? "expired" : verdict.state;
    const state = isExpired ? "expired" : (await this.#records.isAwaited(id)) ? undefined : "gone";
    if (state === undefined) return "waiting";
    await this.#settle(question, { state });
    await this.#records.forget(id);
    return (await this.#records.verdict(id))?.verdict.state ?? state;
  }

  async #settle(question: WaitingQuestion, verdict: Omit<StoredVerdict, "at">): Promise<boolean> {
    const { id, expiresAt } = question;
    const isFirst = await this.#records.settle(id, { ...verdict, at: this.#settings.now() }, expiresAt);
    await this.#listeners.publish(id);
    if (isFirst && verdict.state !== "used") this.#tellSettled(question, verdict.state);
    return isFirst;
  }

  #tellSettled(question: WaitingQuestion, state: ApprovalSettled["state"]): void {
    const { emit, now } = this.#settings;
    emit({ type: "approval-settled", ...aboutQuestion(question), state, at: now() });
  }
}

/** Undefined if another process holds the store for too long: who waits looks again. */
async function unlessBusy<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isPlugboardError(error, "store-unavailable") && error.reason === "busy") return undefined;
    throw error;
  }
}

function aboutQuestion({ id, server, toolId, caller, account }: WaitingQuestion) {
  return {
    question: id,
    server,
    tool: toolId,
    ...(caller !== undefined && { caller }),
    ...(account !== undefined && { account }),
  };
}
