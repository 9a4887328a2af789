import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface BenchTool {
  id: string;
  server: string;
  name: string;
  description?: string;
  inputSchema?: Record<string, unknown>;
}

export interface BenchQuery {
  id: string;
  text: string;
  relevant: string[];
  /** Tools that the labels cannot tell apart; any member of a group counts once. */
  groups?: string[][];
}

export interface QuerySet {
  name: string;
  catalogue: string;
  queries: BenchQuery[];
}

/** Reads `*.queries.json`, and the catalogues that they name, from a folder. */
export function readFolder(folder: string): { sets: QuerySet[]; catalogues: Map<string, BenchTool[]> } {
  const files = readdirSync(folder).filter((file) => file.endsWith(".queries.json"));
  const sets = files.sort().map((file) => {
    const { tools, queries } = readJson(join(folder, file)) as {
      tools: string;
      queries: BenchQuery[];
    };
    return { name: file.replace(".queries.json", ""), catalogue: tools, queries };
  });
  const names = [...new Set(sets.map(({ catalogue }) => catalogue))];
  const missing = names.find((name) => !existsSync(join(folder, name)));
  if (missing !== undefined) throw new Error(`${folder} has no ${missing}`);
  if (sets.length === 0) throw new Error(`${folder} has no *.queries.json`);
  const read = (name: string) => (readJson(join(folder, name)) as { tools: BenchTool[] }).tools;
  return { sets, catalogues: new Map(names.map((name) => [name, read(name)])) };
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}
