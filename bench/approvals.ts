/**
 * Measures what approval costs a call: rules, conditions and remembered answers, relative to a hub without any. The server
 * is in-process, so that little else counts. All take turns, and the median counts. Exits with 1 if a remembered answer
 * costs more than 2 µs. Run: node bench/approvals.ts
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHub } from "../src/index.ts";
import type { Remembering } from "../src/host.ts";
import type { ConfigLiteral, Hub } from "../src/index.ts";
import { openSqliteStore } from "../src/store/sqlite/store.ts";
import { echoServer, toolsNamed } from "./echo-server.ts";
import { median } from "./median.ts";

const turns = 300;
const callsATurn = 50;
const bar = 2;

const folder = mkdtempSync(join(tmpdir(), "plugboard-bench-"));
try {
  await measure();
} finally {
  rmSync(folder, { recursive: true });
}

async function measure(): Promise<void> {
  const conditions = { "/text": ["docs/*", "notes/*", "he*o"] };
  const hubs: Record<string, Hub> = {
    "nothing configured": await openHub(undefined),
    "approval: approve": await openHub("approve"),
    "a pattern": await openHub({ tools: { "tool_*": "approve" } }),
    "a condition": await openHub({ rules: [{ tools: "tool_*", when: conditions, mode: "approve" }] }),
    "an answer for the session": await openHub("prompt", "session"),
    "an answer for always": await openHub("prompt", "always"),
    "1,000 answers for always": await openHub("prompt", "always", 1_000),
  };
  const times = new Map(Object.keys(hubs).map((name) => [name, [] as number[]]));
  for (let turn = 0; turn < turns; turn++) {
    for (const [name, hub] of Object.entries(hubs)) {
      const started = performance.now();
      for (let call = 0; call < callsATurn; call++) await hub.callTool("mcp__it__tool_0", { text: "hello" });
      if (turn >= turns / 10) times.get(name)?.push(((performance.now() - started) / callsATurn) * 1_000);
    }
  }
  const medians = new Map([...times].map(([name, all]) => [name, median(all)]));
  const least = medians.get("nothing configured") ?? NaN;
  for (const [name, us] of medians) {
    const more = us - least;
    const isOver = name.includes("answer") && more > bar;
    if (isOver) process.exitCode = 1;
    const verdict = name.includes("answer")
      ? isOver
        ? `, more than ${bar} µs`
        : `, at most ${bar} µs: met`
      : "";
    console.log(`${name.padEnd(28)} ${us.toFixed(1)} µs  + ${more.toFixed(2)} µs${verdict}`);
  }
  for (const hub of Object.values(hubs)) await hub.close();
}

/** A hub with one answer that covers its calls, among others of other tools. */
async function openHub(
  approval: ConfigLiteral["approval"],
  remember?: Remembering,
  answers = 1,
): Promise<Hub> {
  const store = await openSqliteStore({ path: join(folder, crypto.randomUUID()) }, () => undefined);
  const hub = await createHub(
    {
      servers: { it: { server: echoServer({ tools: toolsNamed(answers) }) } },
      ...(approval !== undefined && { approval }),
    },
    {
      store,
      interact: { approve: async () => ({ decision: "allow", remember }) },
    },
  );
  for (let tool = 0; tool < answers; tool++) await hub.callTool(`mcp__it__tool_${tool}`, { text: "hello" });
  return hub;
}
