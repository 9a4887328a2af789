import { setTimeout as sleep } from "node:timers/promises";
import { isRecord } from "../lib/record.ts";
import type { Session } from "./session.ts";

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
/** What lasted this long worked, so the next attempt is made soon. */
const healthyMs = 10_000;
/** A server that refuses may have been replaced by one that does not, but rarely. */
const longestRefusedMs = 300_000;

export interface Listening {
  /** What the server is asked to tell of. */
  filter: Record<string, unknown>;
  signal: AbortSignal;
  random(): number;
  /** The server listens to us, and agreed to tell of these. `again`: something may have been missed before. */
  onOpen(honoured: Record<string, unknown>, again: boolean): void;
  onRefused?(error: { code: number; message: string }): void;
  /** The question itself failed, or its stream broke. */
  onFailed(error: unknown): void;
}

/**
 * Keeps a modern server's change notifications coming. The stream may end at any time: by an error, by the server's own
 * `cancelled`, or by accident. It is opened again, ever more slowly while that fails, until the session is over. The
 * notifications themselves arrive like all others.
 */
export function keepListening(session: Session, listening: Listening): Promise<void> {
  const { filter, signal, onOpen, onRefused, onFailed } = listening;
  return untilOver(session, listening, async (again) => {
    let isOpen = false;
    const listen = session.listen(filter, signal, (_, { notifications }) => {
      if (isOpen) return;
      isOpen = true;
      onOpen(isRecord(notifications) ? notifications : filter, again);
    });
    const answer = await listen.catch((error: unknown) => {
      onFailed(error);
      throw error;
    });
    if (!("error" in answer)) return "ended";
    onRefused?.(answer.error);
    return "refused";
  });
}

type Attempt = "done" | "ended" | "refused";

/** Repeats an attempt, with pauses that grow while it is of no use, until it is done or the session is over. */
export async function untilOver(
  session: Session,
  { signal, random }: Pick<Listening, "signal" | "random">,
  attempt: (again: boolean) => Promise<Attempt>,
): Promise<void> {
  let pauseMs = firstPauseMs;
  for (let again = false; !signal.aborted && !session.lost; again = true) {
    const begunAt = performance.now();
    const outcome = await attempt(again).catch((): Attempt => "ended");
    if (outcome === "done") return;
    if (performance.now() - begunAt > healthyMs) pauseMs = firstPauseMs;
    await sleep(pauseMs * (0.5 + random() / 2), undefined, { signal, ref: false }).catch(() => undefined);
    pauseMs = Math.min(outcome === "refused" ? longestRefusedMs : longestPauseMs, pauseMs * 2);
  }
}

/** The changes that a server says it tells of, as the question for them. */
export function changesToldBy(capabilities: Record<string, unknown>): Record<string, boolean> {
  const tells = (kind: string) => isRecord(capabilities[kind]) && capabilities[kind]["listChanged"] === true;
  return {
    ...(tells("tools") && { toolsListChanged: true }),
    ...(tells("prompts") && { promptsListChanged: true }),
    ...(tells("resources") && { resourcesListChanged: true }),
  };
}
