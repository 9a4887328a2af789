/**
 * Measures what the limits of results cost: calls of one tool with the default limits, relative to the same calls with
 * `whole: true`, for results of 10 KB and 1 MB, as text and with structured content. Both take short turns in one
 * process against one stdio server, so that load on the machine affects them equally; the median of the turns counts.
 * Fails below the bars. Run: node bench/results.ts [turns]
 */
import { createHub } from "../src/index.ts";
import { median } from "./median.ts";

const bars = { "10 KB": 0.9, "1 MB": 0.6 };
const sizes = { "10 KB": 10_000, "1 MB": 1_000_000 };
const callsPerTurn = { "10 KB": 300, "1 MB": 12 };
const inFlight = 8;

type Size = keyof typeof sizes;
type Shape = "text" | "structured";

if (process.argv[2] === "serve") serve();
else await measure(Number(process.argv[2] ?? 21));

async function measure(turns: number): Promise<void> {
  const server = { command: process.execPath, args: [import.meta.filename, "serve"] };
  const hub = await createHub({ servers: { it: server } });
  console.log("| result | whole, calls/s | bounded, calls/s | ratio | bar |\n|---|---|---|---|---|");
  for (const size of Object.keys(sizes) as Size[])
    for (const shape of ["text", "structured"] as const) {
      const rates: Record<"whole" | "bounded", number[]> = { whole: [], bounded: [] };
      const ratios: number[] = [];
      const run = (whole: boolean) => rate(callsPerTurn[size], () => call(size, shape, whole));
      const call = (bytes: Size, kind: Shape, whole: boolean) =>
        hub.callTool("mcp__it__blob", { bytes: sizes[bytes], shape: kind }, { whole });
      for (let turn = -2; turn < turns; turn++) {
        const [whole, bounded] =
          turn % 2 === 0
            ? [await run(true), await run(false)]
            : ([await run(false), await run(true)].reverse() as [number, number]);
        if (turn < 0) continue;
        rates.whole.push(whole);
        rates.bounded.push(bounded);
        ratios.push(bounded / whole);
      }
      const ratio = median(ratios);
      const verdict = ratio >= bars[size] ? "met" : "MISSED";
      if (ratio < bars[size]) process.exitCode = 1;
      const shown = (numbers: number[]) => Math.round(median(numbers)).toLocaleString("en-US");
      console.log(
        `| ${size}, ${shape} | ${shown(rates.whole)} | ${shown(rates.bounded)} | ${ratio.toFixed(2)} | ${bars[size]}: ${verdict} |`,
      );
    }
  await hub.close();
}

async function rate(calls: number, call: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  let left = calls;
  const worker = async () => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return (calls * 1_000) / (performance.now() - startedAt);
}

/** A stdio server whose answers are written once and sent as they are. */
function serve(): void {
  const written = new Map<string, string>();
  let rest = "";
  process.stdin.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) answer(JSON.parse(line) as Message, written);
  });
}

interface Message {
  id?: string;
  method: string;
  params?: { arguments?: { bytes: number; shape: Shape } };
}

function answer({ id, method, params }: Message, written: Map<string, string>): void {
  if (id === undefined) return;
  const send = (body: string) =>
    process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${body}}\n`);
  if (method !== "tools/call") return void send(other(method));
  const { bytes = 0, shape = "text" } = params?.arguments ?? {};
  const key = `${bytes} ${shape}`;
  const body = written.get(key) ?? `"result":${JSON.stringify(resultOf(bytes, shape))}`;
  written.set(key, body);
  send(body);
}

function other(method: string): string {
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "blob", version: "1" },
    },
    "tools/list": { tools: [{ name: "blob", inputSchema: { type: "object" } }] },
  };
  const result = results[method];
  return result
    ? `"result":${JSON.stringify(result)}`
    : `"error":{"code":-32601,"message":"Method not found"}`;
}

/** Rows as tools return them. With structured content, the text repeats it. */
function resultOf(bytes: number, shape: Shape): object {
  const rows: object[] = [];
  for (let size = 0, id = 1; size < bytes; id++) {
    const row = {
      id,
      title: `The importer drops the last line of a file, case ${id * 7919}`,
      state: id % 3 === 0 ? "closed" : "open",
      labels: ["bug", "import"],
      author: { login: `user-${id % 17}`, url: `https://issues.example/users/${id % 17}` },
      body: "Steps: open a file without a newline at its end, import it, and count the rows. One is missing.",
    };
    rows.push(row);
    size += JSON.stringify(row).length;
  }
  const text = JSON.stringify({ rows });
  const content = [{ type: "text", text }];
  return shape === "text" ? { content } : { content, structuredContent: { rows } };
}
