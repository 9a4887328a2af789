import { PlugboardError } from "../../../errors.ts";
import type { Authorization } from "./authorization.ts";
import type { HttpCall } from "./call.ts";
import type { Receiver } from "./exchange.ts";

const maxFailures = 3;
const minDelayMs = 100;
const maxDelayMs = 30_000;

/** How long to wait before reopening a stream: the server's delay, within limits that protect both sides. */
export function resumeDelayMs(retryMs: number | undefined, failures: number, emptyOpens: number): number {
  const wanted = retryMs ?? 1000 * 1.5 ** failures;
  return Math.min(Math.max(wanted, minDelayMs * 1.5 ** emptyOpens), maxDelayMs);
}

export interface ResumeOptions {
  authorization: Authorization;
  /** The headers of the session. */
  headers(): Record<string, string>;
}

/**
 * Resumes a legacy response whose stream broke. A server that sent event ids keeps later events for us, and may also
 * close the stream on purpose so that we poll. The request itself is never repeated.
 */
export function resumeCall(call: HttpCall, way: ResumeOptions): void {
  if (call.isStopped) return;
  const { client } = way.authorization;
  const { resumes, retryMs } = call;
  const timer = setTimeout(() => attempt(), resumeDelayMs(retryMs, resumes.failed, resumes.empty));
  call.undo = () => clearTimeout(timer);

  const giveUp = () => {
    const { server } = client;
    const message = `"${server}" broke off its response to ${call.request.method} and could not continue it.`;
    call.reject(new PlugboardError("connection-lost", message, { server, data: { sent: true } }));
  };
  const again = () => {
    if (call.isStopped) return;
    if (++resumes.failed >= maxFailures) giveUp();
    else resumeCall(call, way);
  };

  const attempt = () => {
    const headers = {
      ...call.headers,
      ...way.headers(),
      accept: "text/event-stream",
      "last-event-id": call.lastEventId ?? "",
    };
    call.follow(way.authorization.send({ url: client.url, method: "GET", headers }, receiver()));
  };

  const receiver = (): Receiver => {
    let status = 0;
    return {
      head(head) {
        status = head.status;
        if (status !== 200 || head.type !== "text/event-stream") return;
        resumes.failed = 0;
        resumes.empty++;
        call.head(head);
      },
      data: (chunk) => {
        if (status === 200) call.data(chunk);
      },
      end: () => (status === 200 ? call.end() : status >= 500 ? again() : giveUp()),
      failed: (error) => (status === 200 ? call.failed(error) : again()),
    };
  };
}
