/**
 * Measures what `import "plugboard"` costs, compared with importing the client of the official SDK, in CPU time of whole
 * processes that take turns. Exits with 1 if ours costs more. Run: npm run build && node bench/import.ts [runs]
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { median } from "./median.ts";

const runs = Math.max(1, Number(process.argv[2] ?? 20));
const root = join(import.meta.dirname, "..");
const imports = [
  "nothing",
  "plugboard",
  "plugboard/gateway",
  "plugboard/ai-sdk",
  "@modelcontextprotocol/client",
  "zod",
];

const times = new Map(imports.map((name) => [name, [] as number[]]));
for (let run = 0; run < runs; run++) for (const name of imports) times.get(name)?.push(cpuMs(name));
const bare = median(times.get("nothing") ?? []);
for (const [name, all] of times)
  console.log(`${name.padEnd(30)} ${(median(all) - bare).toFixed(0).padStart(4)} ms`);
const [ours, theirs] = ["plugboard", "@modelcontextprotocol/client"].map((name) =>
  median(times.get(name) ?? []),
);
process.exitCode = (ours ?? Infinity) <= (theirs ?? 0) ? 0 : 1;

/** The time of the processor for a process that imports this and ends. */
function cpuMs(name: string): number {
  const program = name === "nothing" ? "" : `await import(${JSON.stringify(name)});`;
  const report = "const { user, system } = process.cpuUsage(); console.log((user + system) / 1000);";
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", program + report],
    {
      cwd: root,
      encoding: "utf8",
    },
  );
  if (status !== 0) throw new Error(stderr);
  return Number(stdout);
}
