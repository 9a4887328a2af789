/**
 * Calls a tool over keep-alive connections as fast as the answers come, in a process of its own. Started with `fork`;
 * every `Order` is answered with an `Outcome`. Each answer is looked at: its status, its id, its size.
 */
import { Connections } from "./connections.ts";
import type { Reply } from "./connections.ts";
import { connectSse } from "./sse-peer.ts";

export interface Target {
  url: string;
  era: "legacy" | "modern";
  /** `sse` for the HTTP+SSE transport of 2024-11-05. Default: Streamable HTTP. */
  transport?: "http" | "sse";
  tool: string;
  headers?: Record<string, string>;
}

export interface Order {
  target: Target;
  /** How large the result has to be; without it, the server returns the 100 bytes that it is sent. */
  size?: number;
  inFlight: number;
  /** When no more calls are begun. */
  ms: number;
  calls?: number;
}

export interface Outcome {
  calls: number;
  perSecond: number;
  p50Us: number;
  p99Us: number;
  failures: number;
  firstFailure?: string;
}

/** Sends one body and resolves with the answer to it. */
export type Exchange = (id: number, body: string) => Promise<Reply>;

const modern = "2026-07-28";
const legacy = "2025-06-18";
const info = { name: "load", version: "1" };
const text = "x".repeat(100);
const peers = new Map<string, Promise<Exchange>>();
let issued = 0;

process.on("disconnect", () => process.exit());
process.on("message", (order: Order) => void run(order).then((outcome) => process.send?.(outcome)));

async function run({ target, size, inFlight, ms, calls = Infinity }: Order): Promise<Outcome> {
  const exchange = await peerOf(target);
  const took: number[] = [];
  let [begun, failures] = [0, 0];
  let firstFailure: string | undefined;
  const from = performance.now();
  const work = async () => {
    while (begun < calls && performance.now() < from + ms) {
      begun++;
      const id = ++issued;
      const started = performance.now();
      const { status, head, length } = await exchange(id, callBody(id, target, size)).catch(
        (error: unknown) => ({
          status: 0,
          head: String(error),
          length: 0,
        }),
      );
      took.push((performance.now() - started) * 1000);
      const isRight =
        status === 200 &&
        (size === undefined ? head.includes(`"id":${id}`) && head.includes(text) : length >= size);
      if (isRight) continue;
      failures++;
      firstFailure ??= `${status} ${head.slice(0, 300)}`;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  const perSecond = (took.length * 1000) / (performance.now() - from);
  const sorted = took.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return {
    calls: took.length,
    perSecond,
    p50Us: at(0.5),
    p99Us: at(0.99),
    failures,
    ...(firstFailure !== undefined && { firstFailure }),
  };
}

function callBody(id: number, { era, tool }: Target, size: number | undefined): string {
  const args = size === undefined ? `{"text":"${text}"}` : `{"text":"x","size":${size}}`;
  const meta = era === "modern" ? `,"_meta":${envelope}` : "";
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${tool}","arguments":${args}${meta}}}`;
}

const envelope = JSON.stringify({
  "io.modelcontextprotocol/protocolVersion": modern,
  "io.modelcontextprotocol/clientInfo": info,
  "io.modelcontextprotocol/clientCapabilities": {},
});

function peerOf(target: Target): Promise<Exchange> {
  const key = JSON.stringify(target);
  const known = peers.get(key) ?? connect(target);
  peers.set(key, known);
  return known;
}

async function connect(target: Target): Promise<Exchange> {
  const initialize = JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: legacy, capabilities: {}, clientInfo: info },
  });
  const initialized = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
  if (target.transport === "sse") return connectSse(target.url, initialize, initialized);
  const common = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...target.headers,
  };
  const { origin, pathname } = new URL(target.url);
  const connections = new Connections(origin);
  const exchangeWith = (headers: Record<string, string>): Exchange => {
    const prefix = connections.prefix(pathname, { ...common, ...headers });
    return (_id, body) => connections.post(prefix, body);
  };
  if (target.era === "modern")
    return exchangeWith({
      "mcp-protocol-version": modern,
      "mcp-method": "tools/call",
      "mcp-name": target.tool,
    });
  const { status, head, session } = await exchangeWith({})(0, initialize);
  if (status !== 200) return () => Promise.resolve({ status, head: `initialize: ${head}`, length: 0 });
  const headers = {
    "mcp-protocol-version": legacy,
    ...(session !== undefined && { "mcp-session-id": session }),
  };
  const exchange = exchangeWith(headers);
  await exchange(0, initialized);
  return exchange;
}
