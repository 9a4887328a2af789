/** How much the gateway accepts and keeps. What is beyond a limit is refused with 413, 429 or 503, or dropped. */
export interface GatewayLimits {
  /** The longest body of a request. 4 MiB. */
  bodyBytes: number;
  /** The longest header of a request, all lines together. 16 KiB. */
  headerBytes: number;
  /** How many connections are open at once; further ones are closed. 1,000. */
  connections: number;
  /** How long a client may take to send the header of a request. 10 s. */
  headerMs: number;
  /** How long a client may take to send a whole request. 60 s. */
  requestMs: number;
  /** How long a connection without a request stays open. 65 s, longer than the usual clients reuse one. */
  idleConnectionMs: number;
  /** Legacy sessions, all callers together. 10,000. */
  sessions: number;
  /** Legacy sessions of one caller. 2,000. */
  sessionsPerCaller: number;
  /** How long a legacy session without a request and without an open stream lasts. 30 min. */
  sessionIdleMs: number;
  /** Open streams that listen (GET) of one legacy session. 16. */
  streamsPerSession: number;
  /** Open streams that listen (GET, `subscriptions/listen`) of one caller. 2,000. */
  streamsPerCaller: number;
  /** Requests of one caller that are not answered yet, those that listen not counted. 1,000. */
  requestsPerCaller: number;
  /** Messages in one batch. 100. */
  batchMessages: number;
  /** A stream gets nothing more, and is dropped, once this much waits to be read by its client. 4 MiB. */
  waitingBytes: number;
  /** If more than this waits for all clients together, the one that has waited longest is dropped. 256 MiB. */
  allWaitingBytes: number;
  /** A client that reads nothing for this long, although something waits for it, is dropped. 30 s. */
  stalledMs: number;
  /** A silent stream gets a comment this often, and a call without an answer becomes a stream. 15 s. */
  keepAliveMs: number;
  /** How often the sender of an open stream is authenticated again; one that is no longer the same caller loses it. 60 s. */
  authenticateMs: number;
  /** What is kept for clients that come back with `Last-Event-ID`, all sessions together. 16 MiB. */
  replayBytes: number;
  /** The same for one stream. 4 MiB. */
  replayBytesPerStream: number;
  /** How long a stream can be resumed after its connection ended. 5 min. */
  replayMs: number;
  /** A call that takes longer becomes a task, for clients that have tasks. 10 s. */
  taskAfterMs: number;
}

const MiB = 1024 * 1024;

export const defaultLimits: GatewayLimits = {
  bodyBytes: 4 * MiB,
  headerBytes: 16 * 1024,
  connections: 1_000,
  headerMs: 10_000,
  requestMs: 60_000,
  idleConnectionMs: 65_000,
  sessions: 10_000,
  sessionsPerCaller: 2_000,
  sessionIdleMs: 30 * 60_000,
  streamsPerSession: 16,
  streamsPerCaller: 2_000,
  requestsPerCaller: 1_000,
  batchMessages: 100,
  waitingBytes: 4 * MiB,
  allWaitingBytes: 256 * MiB,
  stalledMs: 30_000,
  keepAliveMs: 15_000,
  authenticateMs: 60_000,
  replayBytes: 16 * MiB,
  replayBytesPerStream: 4 * MiB,
  replayMs: 5 * 60_000,
  taskAfterMs: 10_000,
};
