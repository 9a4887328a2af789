import { PlugboardError, isPlugboardError } from "../errors.ts";
import { provesModern } from "./era.ts";
import { refusalIn, refutesModern } from "./http-evidence.ts";
import { readDiscovery } from "./greeting.ts";
import type { Session } from "./session.ts";

/** How patient a check is at least and at most; between them, as patient as the requests that were in vain. */
const leastMs = 1_000;
const mostMs = 10_000;

export interface Check {
  /** The patience of whoever had a reason to doubt. */
  timeoutMs: number;
  /** Whether a server that says nothing is to be given up. */
  endsSilent: boolean;
}

/**
 * Asks a server that there is reason to doubt for a sign of life: `ping`, or `server/discover` in the modern era.
 * Returns why its session is of no use any more; undefined while it is.
 */
export async function checkSession(
  server: string,
  session: Session,
  { timeoutMs, endsSilent }: Check,
): Promise<PlugboardError | undefined> {
  const isModern = session.greeting.era === "modern";
  const limitMs = Math.min(mostMs, Math.max(leastMs, timeoutMs));
  const { heard } = session.rpc;
  try {
    const answer = await session.request(
      isModern ? "server/discover" : "ping",
      {},
      {
        timeoutMs: limitMs,
        maxTimeoutMs: limitMs,
        isUpkeep: true,
      },
    );
    const isOther = isModern
      ? "error" in answer || !readDiscovery(answer.result)
      : "error" in answer && provesModern(answer.error.code);
    return isOther ? eraChanged(server) : undefined;
  } catch (error) {
    const isOther = isModern ? refutesModern(error) : provesModern(refusalIn(error)?.code);
    if (isOther) return eraChanged(server);
    if (!isPlugboardError(error, "call-timeout")) return isPlugboardError(error) ? error : undefined;
    // Whoever sends anything at all, if only a late answer, is busy and not silent.
    return endsSilent && session.rpc.heard === heard ? silent(server, limitMs) : undefined;
  }
}

/** The server did not execute a request that belongs to another era than its own. */
export function eraChanged(server: string): PlugboardError {
  const message = `"${server}" no longer supports the protocol revision that was agreed on.`;
  return new PlugboardError("connection-lost", message, {
    server,
    executed: "no",
    data: { reason: "era-changed" },
  });
}

function silent(server: string, limitMs: number): PlugboardError {
  const message = `"${server}" answered none of its last requests, nor the question whether it is alive within ${limitMs / 1000} s. It is being replaced.`;
  return new PlugboardError("not-responding", message, { server });
}
