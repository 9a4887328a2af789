import { PlugboardError } from "../../../errors.ts";

/** The server did not execute the request, so the connection starts a new session and repeats it once. */
export function sessionLost(server: string, status: number): PlugboardError {
  return new PlugboardError("connection-lost", `"${server}" no longer knows our session (HTTP ${status}).`, {
    server,
    executed: "no",
    data: { reason: "session-lost", status },
  });
}

/**
 * True if the server rejected a request because of its session. The spec uses 404; some servers use 400, and only the
 * text of the response distinguishes that from other errors.
 */
export function refusesSession(status: number, words: string): boolean {
  return status === 404 || (status === 400 && /\bsession\b/i.test(words));
}

/** The same for a JSON-RPC error, which some servers send with an error status or even with a success. */
export function isSessionError(error: { code: number; message: string }, isRefused: boolean): boolean {
  const { code, message } = error;
  if (code !== -32_001) return false;
  // In a successful response the text may mean anything, so only accept wording that servers are known to use.
  return isRefused
    ? /\bsession\b/i.test(message)
    : /^(bad request: )?(session not found|no valid session( id)?( provided)?)\.?$/i.test(message);
}
