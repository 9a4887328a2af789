import { joinArgv } from "../../src/lib/argv.ts";
import type { CallResult } from "../../src/index.ts";
import { statusOf } from "./bench.ts";
import type { Bench } from "./bench.ts";
import type { Candidate } from "./servers.ts";

/** What a connected server offers, and what its call brought. */
export interface Visit {
  warmMs?: number;
  tools: number;
  resources: number;
  prompts: number;
  call?: { line: string; exitCode: number | null; answer: string };
}

const warmStarts = 2;

/** Uses a server that is already installed. */
export async function visit(bench: Bench, { name, call }: Candidate): Promise<Visit> {
  const starts: number[] = [];
  for (let i = 0; i < warmStarts; i++) {
    const { startMs } = await statusOf(bench, name);
    if (startMs !== undefined) starts.push(startMs);
  }
  const { tools } = await bench.json<{ tools: unknown[] }>("tools", name);
  const { resources } = await bench.json<{ resources: unknown[] }>("resources", name);
  const { prompts } = await bench.json<{ prompts: unknown[] }>("prompts", name);
  return {
    ...(starts.length > 0 && { warmMs: Math.min(...starts) }),
    tools: tools.length,
    resources: resources.length,
    prompts: prompts.length,
    ...(call && { call: await makeCall(bench, name, call) }),
  };
}

async function makeCall(
  bench: Bench,
  server: string,
  { tool, arguments: values }: NonNullable<Candidate["call"]>,
): Promise<NonNullable<Visit["call"]>> {
  const words = Object.entries(values).map(([key, value]) => `${key}=${String(value)}`);
  const written = ["call", `${server}.${tool}`, ...words, "--json"];
  const line = written.map((word) => word.replaceAll("$PWD", bench.folder));
  const { code: exitCode, out } = await bench.plugboard(...line);
  const answer = firstWords(JSON.parse(out) as Answer).replaceAll(bench.root, "…");
  const shown = joinArgv(["plugboard", ...line]).replaceAll(bench.folder, "$PWD");
  return { line: shown, exitCode, answer: short(answer) };
}

type Answer = Partial<CallResult> & { error?: { code: string; message: string } };

function firstWords({ content = [], structuredContent, error }: Answer): string {
  if (error) return `${error.code}: ${error.message}`;
  const text = content.find(({ type }) => type === "text")?.["text"];
  return typeof text === "string" ? text : JSON.stringify(structuredContent ?? content);
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > 160 ? `${line.slice(0, 160)} …` : line;
}
