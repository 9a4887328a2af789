/**
 * What a tick costs after full collections, with and without one that is kept (`src/lib/ticks.ts`), each in processes of
 * its own. Run: node bench/ticks.ts [runs]
 */
import { execFileSync } from "node:child_process";
import { keepTicksFast } from "../src/lib/ticks.ts";
import { median } from "./median.ts";

const [first = "5", isKept] = process.argv.slice(2);

if (first === "measure") {
  if (isKept === "kept") keepTicksFast();
  await ticks(500);
  for (let round = 0; round < 4; round++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await ticks(300_000);
  const start = performance.now();
  await ticks(1_000_000);
  console.log(performance.now() - start);
} else {
  const samples: Record<"kept" | "not", number[]> = { kept: [], not: [] };
  for (let run = 0; run < Number(first); run++)
    for (const [kind, all] of Object.entries(samples))
      all.push(
        Number(
          execFileSync(process.execPath, ["--expose-gc", import.meta.filename, "measure", kind], {
            encoding: "utf8",
          }),
        ),
      );
  for (const [kind, all] of Object.entries(samples))
    console.log(`${kind === "kept" ? "one kept" : "none kept"}: ${median(all).toFixed(0)} ns a tick`);
}

function ticks(count: number): Promise<void> {
  let left = count;
  return new Promise((resolve) => {
    const tick = () => {
      if (--left > 0) process.nextTick(tick);
      else resolve();
    };
    tick();
  });
}
