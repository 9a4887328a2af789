/** How much the gateway accepts and keeps. What is beyond a limit is refused with 413, 429 or 503, or dropped. */
export interface GatewayLimits {
  /** The longest body of a request. 4 MiB. */
  bodyBytes: number;
  /** The longest header of a request, all lines together. 16 KiB. */
  headerBytes: number;
  /**
   * How many connections are open at once, of which one caller has at most three quarters. For a further one the oldest
   * idle connection of the caller with the most is closed; streams that listen count as idle. 2,000.
   */
  connections: number;
  /** How long a client may take to send the header of a request. 10 s. */
  headerMs: number;
  /** How long a client may take to send a whole request. 60 s. */
  requestMs: number;
  /** How long a connection without a request stays open. 65 s, longer than the usual clients reuse one. */
  idleConnectionMs: number;
  /** Legacy sessions, all callers together. The oldest idle one of the caller with the most goes first. 10,000. */
  sessions: number;
  /** Legacy sessions of one caller; its oldest idle one goes first. 2,000. */
  sessionsPerCaller: number;
  /** How long a legacy session without a request and without an open stream lasts. 30 min. */
  sessionIdleMs: number;
  /** Open streams that listen (GET) of one legacy session. 16. */
  streamsPerSession: number;
  /** Open streams that listen (GET, `subscriptions/listen`) of one caller. 1,000. */
  streamsPerCaller: number;
  /** Requests of one caller that are not answered yet, those that listen not counted. 1,000. */
  requestsPerCaller: number;
  /** Messages in one batch. 100. */
  batchMessages: number;
  /** A stream gets nothing more, and is dropped, once this much waits to be read by its client. 4 MiB. */
  waitingBytes: number;
  /** If more than this waits for all clients together, the caller with the most loses what has waited longest. 256 MiB. */
  allWaitingBytes: number;
  /** A client that reads nothing for this long, although something waits for it, is dropped. 30 s. */
  stalledMs: number;
  /** A silent stream gets a comment this often, and a call without an answer becomes a stream. 15 s. */
  keepAliveMs: number;
  /** How often the sender of an open stream is authenticated again; one that is no longer the same caller loses it. 60 s. */
  authenticateMs: number;
  /** What is kept for clients that come back with `Last-Event-ID`, all sessions together; the caller with the most loses the oldest. 16 MiB. */
  replayBytes: number;
  /** The same for one stream. 4 MiB. */
  replayBytesPerStream: number;
  /** How long a stream can be resumed after its connection ended. 5 min. */
  replayMs: number;
  /** A call that takes longer becomes a task, for clients that have tasks. 10 s. */
  taskAfterMs: number;
  /** Tasks of one caller, running or with a result that it has not fetched. The oldest result goes first. 100. */
  tasksPerCaller: number;
  /** The same, all callers together. 1,000. */
  tasks: number;
  /** Calls of one caller that wait for input which their servers asked for. The oldest that was handed out goes first. 100. */
  parkedCallsPerCaller: number;
  /** The same, all callers together. 1,000. */
  parkedCalls: number;
  /** Subscriptions to resources of one caller. 1,000. */
  subscriptionsPerCaller: number;
  /** The same, all callers together. 10,000. */
  subscriptions: number;
  /** Bytes that are kept for one caller, of each: sessions, streams, messages that wait, tasks, parked calls, links, lists. 16 MiB. */
  heldBytesPerCaller: number;
  /** The same, all callers together; the caller with the most loses the oldest that is idle. 64 MiB. */
  heldBytes: number;
}

const MiB = 1024 * 1024;

export const defaultLimits: GatewayLimits = {
  bodyBytes: 4 * MiB,
  headerBytes: 16 * 1024,
  connections: 2_000,
  headerMs: 10_000,
  requestMs: 60_000,
  idleConnectionMs: 65_000,
  sessions: 10_000,
  sessionsPerCaller: 2_000,
  sessionIdleMs: 30 * 60_000,
  streamsPerSession: 16,
  streamsPerCaller: 1_000,
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
  tasksPerCaller: 100,
  tasks: 1_000,
  parkedCallsPerCaller: 100,
  parkedCalls: 1_000,
  subscriptionsPerCaller: 1_000,
  subscriptions: 10_000,
  heldBytesPerCaller: 16 * MiB,
  heldBytes: 64 * MiB,
};
