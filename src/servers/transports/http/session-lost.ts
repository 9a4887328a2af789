import { PlugboardError } from "../../../errors.ts";

/** The connection layer starts a new session and repeats once: the server did nothing with this request. */
export function sessionLost(server: string, status: number): PlugboardError {
  return new PlugboardError("connection-lost", `"${server}" no longer knows our session (HTTP ${status}).`, {
    server,
    executed: "no",
    data: { reason: "session-lost", status },
  });
}

/**
 * True when a refusal of a request with a session is about that session. 404 is the spec's way to say so; servers also
 * answer 400, and only their words tell that from other mistakes.
 */
export function refusesSession(status: number, words: string): boolean {
  return status === 404 || (status === 400 && /\bsession\b/i.test(words));
}

/** The same for a JSON-RPC error; some servers answer with one, in a refusal or even in a success. */
export function isSessionError(error: { code: number; message: string }, isRefused: boolean): boolean {
  const { code, message } = error;
  if (code !== -32_001) return false;
  // On a success these words may be about anything; only the ones that servers are known to use for this count there.
  return isRefused
    ? /\bsession\b/i.test(message)
    : /^(bad request: )?(session not found|no valid session( id)?( provided)?)\.?$/i.test(message);
}
