import * as z from "zod/mini";
import { isReservedHeader } from "../lib/reserved-header.ts";
import { field } from "./server-schema.ts";

const headerName = z
  .string()
  .check(z.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/, "expected the name of a header"));

/** `Authorization` is how a client shows the gateway's own token, which is nobody else's business. */
const inboundHeader = headerName.check(
  z.refine((name) => !/^authorization$/i.test(name), "carries the gateway's own token; use another header"),
);

const outboundHeader = headerName.check(
  z.refine((name) => !isReservedHeader(name), "this header is set by Plugboard itself"),
);

const amount = z.int().check(z.minimum(1), z.maximum(1_000_000));
const bytes = z.int().check(z.minimum(1024), z.maximum(1_073_741_824));
const milliseconds = z.int().check(z.minimum(100), z.maximum(86_400_000));

/** Each has its default in `gateway/http/limits.ts`. */
const limits = z.strictObject({
  bodyBytes: field(bytes, "The longest body of a request.", 4_194_304),
  headerBytes: field(bytes, "The longest header of a request.", 16_384),
  connections: field(
    amount,
    "How many connections are open at once, of which one caller has at most three quarters. Idle ones make room for new ones.",
    2000,
  ),
  headerMs: field(milliseconds, "How long a client may take to send the header of a request.", 10_000),
  requestMs: field(milliseconds, "How long a client may take to send a whole request.", 60_000),
  idleConnectionMs: field(milliseconds, "How long a connection without a request stays open.", 65_000),
  sessions: field(amount, "How many legacy sessions there are, of all callers together.", 10_000),
  sessionsPerCaller: field(amount, "How many legacy sessions one caller has.", 2000),
  sessionIdleMs: field(
    milliseconds,
    "How long a legacy session without a request and without an open stream lasts.",
    1_800_000,
  ),
  streamsPerSession: field(amount, "How many streams that listen one legacy session has open.", 16),
  streamsPerCaller: field(amount, "How many streams that listen one caller has open.", 1000),
  requestsPerCaller: field(amount, "How many requests of one caller wait for an answer.", 1000),
  batchMessages: field(amount, "How many messages a batch has.", 100),
  waitingBytes: field(bytes, "A stream is dropped once this much waits to be read by its client.", 4_194_304),
  allWaitingBytes: field(
    bytes,
    "If more than this waits for all clients together, the caller with the most loses what has waited longest.",
    268_435_456,
  ),
  stalledMs: field(
    milliseconds,
    "A client that reads nothing for this long, although something waits for it, is dropped.",
    30_000,
  ),
  keepAliveMs: field(milliseconds, "How often a silent stream gets a sign of life.", 15_000),
  authenticateMs: field(
    milliseconds,
    "How often the sender of an open stream is authenticated again. One that is no longer the same caller loses it.",
    60_000,
  ),
  replayBytes: field(bytes, "How much is kept for clients that resume a stream.", 16_777_216),
  replayBytesPerStream: field(bytes, "The same for one stream.", 4_194_304),
  replayMs: field(milliseconds, "How long a stream can be resumed.", 300_000),
  taskAfterMs: field(
    milliseconds,
    "A call that takes longer becomes a task, for clients that have tasks.",
    10_000,
  ),
  tasksPerCaller: field(
    amount,
    "How many tasks one caller has, running or with a result that it has not fetched. The oldest result goes first.",
    100,
  ),
  tasks: field(amount, "The same, of all callers together.", 1000),
  parkedCallsPerCaller: field(
    amount,
    "How many calls of one caller wait for input that their servers asked for.",
    100,
  ),
  parkedCalls: field(amount, "The same, of all callers together.", 1000),
  subscriptionsPerCaller: field(amount, "How many subscriptions to resources one caller has.", 1000),
  subscriptions: field(amount, "The same, of all callers together.", 10_000),
  heldBytesPerCaller: field(
    bytes,
    "How much is kept for one caller, of each: sessions, streams, messages that wait, tasks, parked calls, links, lists. The oldest idle goes first.",
    16_777_216,
  ),
  heldBytes: field(bytes, "The same, of all callers together.", 67_108_864),
});

/** The `gateway` settings. */
export const gateway = z.strictObject({
  host: field(
    z.string().check(z.minLength(1)),
    "The address to listen on. Anything but loopback needs `auth: token`, and the names that clients use in `allowedHosts`.",
    "127.0.0.1",
    "word",
  ),
  port: field(
    z.int().check(z.minimum(0), z.maximum(65_535)),
    "The port to listen on; 0 is any free one. Default: 7420, or the next free one. A configured port that is taken is an error.",
    7420,
  ),
  auth: field(
    z.enum(["token", "none"]),
    "`token`: clients send the gateway's token (the default). `none`: every program on this machine may use all servers; only on loopback.",
    "token",
  ),
  names: field(
    z.strictObject({
      style: field(
        z.enum(["server", "mcp", "plain"]),
        "`server__tool` (the default), `mcp__server__tool`, or `plain`: the server's own names, for an endpoint of exactly one server.",
        "server",
      ),
      maxLength: field(
        z.int().check(z.minimum(24), z.maximum(128)),
        "The maximum length of a name. Default: 48, so that a client's own prefix still fits into 64. Does not apply to `plain`.",
        48,
      ),
    }),
    "How the gateway names tools and prompts.",
    { style: "server", maxLength: 48 },
  ),
  headers: field(
    z.record(z.string(), z.record(inboundHeader, outboundHeader)),
    "Which headers of a client reach a server, by server: the client's header, and the header that the server gets. Callers that send them have connections of their own. No other header is passed on.",
    { issues: { "X-Issues-Token": "Authorization" } },
    "word",
  ),
  allowedHosts: field(
    z.array(z.string().check(z.minLength(1))),
    "Names that clients may use for the gateway in `Host`, with or without a port, beside loopback.",
    ["plugboard.internal"],
    "word",
  ),
  allowedOrigins: field(
    z.array(z.string().check(z.minLength(1))),
    "Origins of web pages that may use the gateway, beside loopback.",
    ["https://inspector.example"],
    "word",
  ),
  limits: field(limits, "How much the gateway accepts and keeps. Beyond it, requests are refused.", {
    bodyBytes: 4_194_304,
  }),
});
