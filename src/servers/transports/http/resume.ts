import type { FetchLike } from "@modelcontextprotocol/client";
import { PlugboardError } from "../../../errors.ts";
import type { HttpCall } from "./call.ts";
import type { HttpClient } from "./client.ts";
import { mediaType, type Receiver } from "./exchange.ts";

const maxFailures = 3;
const shortestMs = 100;
const longestMs = 30_000;

/** How long to wait before a stream is opened again: as the server says, within limits that protect both sides. */
export function resumeDelayMs(retryMs: number | undefined, failures: number, emptyOpens: number): number {
  const wanted = retryMs ?? 1000 * 1.5 ** failures;
  return Math.min(Math.max(wanted, shortestMs * 1.5 ** emptyOpens), longestMs);
}

export interface ResumeWay {
  client: HttpClient;
  headers(): Record<string, string> | Promise<Record<string, string>>;
  /** What to send with instead, where every request is signed. */
  signed(): FetchLike | undefined;
}

/**
 * Continues a legacy answer whose stream broke. A server that gave event ids keeps what it says after a break, and
 * may also break on purpose, to be asked later. The request itself is never repeated.
 */
export function resumeCall(call: HttpCall, way: ResumeWay): void {
  const { client } = way;
  const { resumes, retryMs } = call;
  const timer = setTimeout(() => void attempt(), resumeDelayMs(retryMs, resumes.failed, resumes.empty));
  call.undo = () => clearTimeout(timer);

  const giveUp = () => {
    const message = `"${client.server}" broke off its answer to ${call.request.method} and could not continue it.`;
    call.reject(
      new PlugboardError("connection-lost", message, { server: client.server, data: { sent: true } }),
    );
  };
  const again = () => (++resumes.failed >= maxFailures ? giveUp() : resumeCall(call, way));

  const attempt = async () => {
    const stopping = new AbortController();
    const { signal } = stopping;
    call.undo = (reason) => stopping.abort(reason);
    try {
      const known = await way.headers();
      if (signal.aborted) return;
      const url = client.url;
      const sent = { ...known, accept: "text/event-stream", "last-event-id": call.lastEventId ?? "" };
      const fetch = way.signed();
      if (fetch) return void receiveFrom(fetch(url, { headers: sent, signal }), url, receiver(), signal);
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

/** Pushes what a fetch brings, as an exchange of ours does; nothing more once it is stopped. */
async function receiveFrom(
  answer: Promise<Response>,
  url: URL,
  receiver: Receiver,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { status, statusText, headers, body } = await answer;
    const type = mediaType(headers.get("content-type") ?? undefined);
    receiver.head({ url, status, statusText, headers: Object.fromEntries(headers), type });
    for await (const chunk of body ?? []) receiver.data(Buffer.from(chunk));
  } catch (error) {
    if (!signal.aborted) receiver.failed(error);
    return;
  }
  if (!signal.aborted) receiver.end();
}
