import { setTimeout as pause } from "node:timers/promises";
import type { Answer, Exchange } from "./listener.ts";

/** What goes wrong at an endpoint; without any of the last group it is only late. */
export interface Fault {
  /** Lets that many requests through first. */
  after?: number;
  /** Strikes that often, and then no more. */
  times?: number;
  /** Late: by this time, or until this happens. */
  delayMs?: number;
  until?: Promise<unknown>;

  /** In place of the right answer, which is never worked out. An object becomes JSON. */
  answer?: { status?: number; headers?: Record<string, string | string[]>; body?: unknown };
  /** To another place; the query goes along. */
  redirect?: { status: 301 | 302 | 303 | 307 | 308; to: string };
  /** To itself, for ever. */
  loop?: boolean;
  /** The right answer and then that much white space. */
  oversizedBytes?: number;
  /** Ends the connection: before the request is looked at, or when it is done and only the answer is missing. */
  drop?: "before" | "after";
}

/** Counts per fault, so that a fault that is set anew starts anew. */
export class Faults {
  readonly #seen = new WeakMap<Fault, number>();

  async apply(
    fault: Fault | undefined,
    exchange: Exchange,
    answer: () => Promise<Answer | undefined>,
  ): Promise<Answer | undefined> {
    if (fault === undefined || !this.#strikes(fault)) return answer();
    if (fault.delayMs !== undefined) await pause(fault.delayMs);
    await fault.until;
    const { url, response } = exchange;
    if (fault.drop === "before") return void response.destroy();
    if (fault.answer !== undefined) return wrong(fault.answer);
    if (fault.redirect !== undefined) {
      return redirect(fault.redirect.status, `${fault.redirect.to}${url.search}`);
    }
    if (fault.loop === true) {
      return redirect(307, `${url.pathname}?hop=${Number(url.searchParams.get("hop") ?? 0) + 1}`);
    }
    const right = await answer();
    if (fault.drop === "after") return void response.destroy();
    if (right === undefined || fault.oversizedBytes === undefined) return right;
    return { ...right, paddingBytes: fault.oversizedBytes };
  }

  #strikes(fault: Fault): boolean {
    const seen = (this.#seen.get(fault) ?? 0) + 1;
    this.#seen.set(fault, seen);
    const first = fault.after ?? 0;
    return seen > first && seen <= first + (fault.times ?? Infinity);
  }
}

function redirect(status: number, location: string): Answer {
  return { status, headers: { location } };
}

function wrong({ status = 200, headers, body = "" }: NonNullable<Fault["answer"]>): Answer {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers: { "content-type": "application/json", ...headers }, body: text };
}
