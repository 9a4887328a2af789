import { setTimeout as sleep } from "node:timers/promises";
import { isRecord } from "../lib/record.ts";
import type { Session } from "./session.ts";

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/**
 * Keeps a modern server's change notifications coming. The stream may end at any time, on purpose or by accident;
 * it is opened again, ever more slowly while that fails, until the session is over. The notifications themselves
 * arrive like all others.
 */
export async function keepListening(
  session: Session,
  filter: Record<string, unknown>,
  signal: AbortSignal,
  random: () => number,
): Promise<void> {
  let pauseMs = firstPauseMs;
  while (!signal.aborted && !session.lost) {
    const openedAt = Date.now();
    try {
      const answer = await session.listen(filter, signal);
      // A server that does not know the method will not learn it.
      if ("error" in answer) return;
    } catch {
      // The stream broke; whether the session did too is decided elsewhere.
    }
    if (Date.now() - openedAt > longestPauseMs) pauseMs = firstPauseMs;
    await sleep(pauseMs * (0.5 + random() / 2), undefined, { signal, ref: false }).catch(() => undefined);
    pauseMs = Math.min(longestPauseMs, pauseMs * 2);
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
