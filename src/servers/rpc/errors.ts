import { isPlugboardError, PlugboardError } from "../../errors.ts";
import { maxDepth } from "./depth.ts";

/** For errors that a server answers with, which often say what it misses. */
export const ownAnswerHint =
  "That is the server's own answer. If it does not say what to change, report it to the server's author.";

/** The errors for requests that got no answer. */
export function requestErrors(server: string) {
  return {
    timedOut(method: string, elapsedMs: number, limits: { timeoutMs: number; maxTimeoutMs: number }) {
      const { timeoutMs, maxTimeoutMs } = limits;
      const inAll = elapsedMs >= maxTimeoutMs && maxTimeoutMs > timeoutMs;
      const message = inAll
        ? `"${server}" did not finish ${method} within the longest time allowed (${maxTimeoutMs} ms).`
        : `"${server}" did not answer ${method} within ${Math.min(timeoutMs, maxTimeoutMs)} ms.`;
      return new PlugboardError("call-timeout", message, {
        server,
        data: { method, timeoutMs, maxTimeoutMs },
      });
    },
    cancelled(method: string, cause: unknown, wasSent: boolean) {
      const message = `The request ${method} to "${server}" was cancelled.`;
      return new PlugboardError("call-cancelled", message, {
        server,
        cause,
        executed: wasSent ? "maybe" : "no",
      });
    },
    malformed(method: string) {
      const message = `"${server}" answered ${method} with a message that is neither a JSON-RPC result nor an error.`;
      return new PlugboardError("protocol-error", message, { server, data: { method } });
    },
    ended(method: string) {
      return new PlugboardError("connection-lost", `"${server}" ended ${method}.`, { server });
    },
    tooDeep(method: string) {
      const message = `"${server}" answered ${method} with a result that is nested deeper than ${maxDepth} levels.`;
      return new PlugboardError("protocol-error", message, { server, data: { method } });
    },
    closed() {
      const message = `The connection to "${server}" is closed.`;
      return new PlugboardError("connection-lost", message, { server, executed: "no" });
    },
    unsent(error: unknown) {
      if (isPlugboardError(error)) return error;
      const message = `The request to "${server}" could not be sent.`;
      return new PlugboardError("connection-lost", message, { server, cause: error, executed: "no" });
    },
  };
}
