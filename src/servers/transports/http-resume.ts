import { PlugboardError } from "../../errors.ts";
import type { HttpCall } from "./http-call.ts";
import type { HttpClient } from "./http-client.ts";
import type { Receiver } from "./http-exchange.ts";

const maxFailures = 3;
const shortestMs = 100;
const longestMs = 30_000;

/** How long to wait before a stream is opened again: as the server says, within limits that protect both sides. */
export function resumeDelayMs(retryMs: number | undefined, failures: number, emptyOpens: number): number {
  const wanted = retryMs ?? 1000 * 1.5 ** failures;
  return Math.min(Math.max(wanted, shortestMs * 1.5 ** emptyOpens), longestMs);
}

/**
 * Continues a legacy answer whose stream broke. A server that gave event ids keeps what it says after a break, and
 * may also break on purpose, to be asked later. The request itself is never repeated.
 */
export function resumeCall(
  call: HttpCall,
  client: HttpClient,
  headers: () => Record<string, string> | Promise<Record<string, string>>,
): void {
  const { resumes, retryMs } = call;
  const timer = setTimeout(() => void attempt(), resumeDelayMs(retryMs, resumes.failed, resumes.empty));
  call.undo = () => clearTimeout(timer);

  const giveUp = () => {
    const message = `"${client.server}" broke off its answer to ${call.request.method} and could not continue it.`;
    call.reject(
      new PlugboardError("connection-lost", message, { server: client.server, data: { sent: true } }),
    );
  };
  const again = () => (++resumes.failed >= maxFailures ? giveUp() : resumeCall(call, client, headers));

  const attempt = async () => {
    let stopped = false;
    call.undo = () => void (stopped = true);
    try {
      const known = await headers();
      if (stopped) return;
      const url = client.url;
      const sent = { ...known, accept: "text/event-stream", "last-event-id": call.lastEventId ?? "" };
      call.travel(client.exchange({ url, method: "GET", headers: sent }, receiver()));
    } catch {
      again();
    }
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
      data: (chunk) => call.data(chunk),
      end: () => (status === 200 ? call.end() : status >= 500 ? again() : giveUp()),
      failed: (error) => (status === 200 ? call.failed(error) : again()),
    };
  };
}
