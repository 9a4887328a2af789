import { setTimeout as sleep } from "node:timers/promises";
import { isPrivateAddress } from "../../config/approvals-schema.ts";
import { expandTexts } from "../../config/expand.ts";
import type { ValueSources } from "../../config/expand.ts";
import type { Settings } from "../../config/schema.ts";
import { PlugboardError, isPlugboardError } from "../../errors.ts";
import { startDeadline } from "../../lib/deadline.ts";
import { printableJson } from "../../lib/printable.ts";
import { isRecord } from "../../lib/record.ts";
import { version } from "../../lib/version.ts";
import type { ApprovalAnswer } from "./answer.ts";
import type { WaitingQuestion } from "./question.ts";

/** Where a question can be answered later, and with which credential. It is good for this question only. */
export interface AnswerPlace {
  url: string;
  credential: string;
}

export interface WebhookSettings extends ValueSources {
  settings(): Settings;
  now(): number;
  random(): number;
  /** True as long as the question waits and the receiver does not know it. */
  isWanted(question: WaitingQuestion): Promise<boolean>;
  /** The receiver has taken the question, and answers later. */
  onTold(question: WaitingQuestion): Promise<void>;
  onAnswer(question: WaitingQuestion, answer: ApprovalAnswer): Promise<unknown>;
  answerPlace(question: WaitingQuestion): AnswerPlace | undefined;
  onProblem(message: string): void;
}

const timeoutMs = 10_000;
const firstDelayMs = 1_000;
const longestDelayMs = 60_000;
const maxAnswerBytes = 65_536;
const atOnce = 8;

/** Tells the configured receiver about questions, until it has taken each or the question is over. */
export class ApprovalWebhook {
  readonly #settings: WebhookSettings;
  readonly #closing = new AbortController();
  readonly #telling = new Map<string, Promise<void>>();
  readonly #turns: (() => void)[] = [];
  #underWay = 0;

  constructor(settings: WebhookSettings) {
    this.#settings = settings;
  }

  tell(question: WaitingQuestion): void {
    const { id } = question;
    if (this.#telling.has(id) || this.#closing.signal.aborted) return;
    if (!this.#settings.settings().approvals?.webhook) return;
    const telling = this.#tell(question)
      .catch(() => undefined)
      .finally(() => this.#telling.delete(id));
    this.#telling.set(id, telling);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const turn of this.#turns.splice(0)) turn();
    await Promise.all(this.#telling.values());
  }

  async #tell(question: WaitingQuestion): Promise<void> {
    const { random, isWanted, onTold, onAnswer, onProblem } = this.#settings;
    let problem: string | undefined;
    for (let attempt = 0; ; attempt++) {
      if (this.#closing.signal.aborted) return;
      try {
        if (!(await isWanted(question))) return;
        const answer = await this.#inTurn(() => this.#post(question));
        if (this.#closing.signal.aborted) return;
        await (answer ? onAnswer(question, answer) : onTold(question));
        return;
      } catch (error) {
        if (this.#closing.signal.aborted || isPlugboardError(error, "question-over")) return;
        const words = `The approval webhook failed for ${question.id}: ${whyFailed(error)}. It is tried again.`;
        if (words !== problem) onProblem((problem = words));
      }
      const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(attempt, 10));
      await sleep(delay * (0.5 + random() / 2), undefined, { signal: this.#closing.signal, ref: false });
    }
  }

  /** Returns the answer, or undefined if the receiver answers later. */
  async #post(question: WaitingQuestion): Promise<ApprovalAnswer | undefined> {
    const { settings, now, answerPlace } = this.#settings;
    const { url = "", secret = "" } = settings().approvals?.webhook ?? {};
    const target = await expandTexts({ url, secret }, "approvals.webhook", this.#settings);
    if (!isPrivateAddress(target.url)) throw new Failed("its URL must be https, or http on this machine");
    if (target.secret.length < 16) throw new Failed("its secret is shorter than 16 characters");
    const place = answerPlace(question);
    const told = { type: "approval-waiting", question, ...(place && { answer: place }) };
    // The same to a parser, and safe for a receiver that only shows or logs it.
    const body = printableJson(JSON.stringify(told));
    const timestamp = String(Math.floor(now() / 1_000));
    using deadline = startDeadline(timeoutMs);
    const response = await fetch(target.url, {
      method: "POST",
      body,
      // Only the configured address is contacted.
      redirect: "manual",
      signal: AbortSignal.any([this.#closing.signal, deadline.signal]),
      headers: {
        "content-type": "application/json",
        "user-agent": `plugboard/${version}`,
        "plugboard-timestamp": timestamp,
        "plugboard-signature": `v1=${signatureOf(target.secret, timestamp, body)}`,
      },
    });
    const text = await readText(response);
    if (!response.ok)
      throw new Failed(
        response.status >= 300 && response.status < 400
          ? `it redirects (HTTP ${response.status}), which is not followed`
          : `HTTP ${response.status}`,
      );
    return answerIn(text, question);
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#underWay >= atOnce) await new Promise<void>((resolve) => this.#turns.push(resolve));
    this.#underWay++;
    try {
      return await work();
    } finally {
      this.#underWay--;
      this.#turns.shift()?.();
    }
  }
}

/** HMAC-SHA256 over the time and the body, so that neither can be changed and an old request is recognised. */
export function signatureOf(secret: string, timestamp: string, body: string): string {
  const { createHmac } = process.getBuiltinModule("node:crypto");
  return createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
}

class Failed extends Error {}

/** An answer names the question and its digest, so that no page in between can give one by chance. */
function answerIn(text: string, { id, digest }: WaitingQuestion): ApprovalAnswer | undefined {
  if (text.trim() === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Failed("its answer is not JSON");
  }
  if (!isRecord(value)) throw new Failed("its answer is not an object");
  if (value["decision"] === undefined) return undefined;
  if (value["id"] !== id || value["digest"] !== digest)
    throw new Failed("its answer does not name the `id` and `digest` of the question");
  const { id: _id, ...answer } = value;
  return answer as unknown as ApprovalAnswer;
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk as Uint8Array);
    size += (chunk as Uint8Array).length;
    if (size > maxAnswerBytes) throw new Failed("its answer is too long");
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Nothing of what was sent, and no address: the URL may contain a credential. */
function whyFailed(error: unknown): string {
  if (error instanceof Failed || error instanceof PlugboardError) return error.message.replace(/\.$/, "");
  const { cause, name } = error as { cause?: { code?: unknown }; name?: unknown };
  if (name === "TimeoutError") return `no answer within ${timeoutMs / 1_000} s`;
  return typeof cause?.code === "string" ? cause.code : "it cannot be reached";
}
