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
  if (!sessionCodes.has(code)) return false;
  // In a successful response the text may mean anything, so only accept wording that servers are known to use.
  return isRefused ? /\bsession\b/i.test(message) : knownWording.test(message);
}

/** "Invalid request" is about the message, so nothing was executed; -32001 is what the official servers send. */
const sessionCodes: ReadonlySet<number> = new Set([-32_001, -32_600]);

const knownWording = new RegExp(
  [
    "^((bad|invalid) request: )?",
    "((mcp )?session( id)? (was |is )?(not found|unknown|invalid|expired|terminated|not valid)",
    "|(invalid|unknown|expired|missing|no valid) (or (missing|expired) )?(mcp )?session( id)?( provided)?)",
    "[.!]?$",
  ].join(""),
  "i",
);
