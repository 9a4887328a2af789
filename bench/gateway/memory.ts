import { setTimeout as sleep } from "node:timers/promises";
import { startServe } from "./contenders.ts";
import type { Contender } from "./contenders.ts";
import { judge } from "./figures.ts";
import { residentMb } from "./process-costs.ts";
import type { Load } from "./processes.ts";

const large = 1_000_000;
/** `plugboard serve` gives memory back when it has been quiet for a few seconds. */
const settledMs = 12_000;

/** Resident memory of `plugboard serve` with one server: at rest, after many calls, and with many large results. */
export async function measureMemory(load: Load, build: string): Promise<void> {
  await withOurs(build, async ({ pid, targets: { legacy: target } }) => {
    if (!target) return;
    await load.run({ target, inFlight: 1, ms: 10_000, calls: 1 });
    await sleep(settledMs);
    judge("resident MB at rest", residentMb(pid).now, "below", 120);
    await load.run({ target, inFlight: 32, ms: 600_000, calls: 10_000 });
    await sleep(settledMs);
    const early = residentMb(pid).now;
    await load.run({ target, inFlight: 32, ms: 600_000, calls: 190_000 });
    await sleep(settledMs);
    const { now: late, peak } = residentMb(pid);
    console.log(
      `resident after 10,000 calls ${early.toFixed(0)} MB, after 200,000 ${late.toFixed(0)} MB, at most ${peak.toFixed(0)} MB`,
    );
    judge("resident after 200,000 calls × after 10,000", late / early, "at most", 1.1);
  });
  await withOurs(build, async ({ pid, targets: { modern: target } }) => {
    if (!target) return;
    const { calls } = await load.run({ target, inFlight: 32, ms: 10_000, size: large });
    judge(`peak resident MB, 32 × 1 MB in flight, ${calls} calls`, residentMb(pid).peak, "below", 350);
  });
}

async function withOurs(build: string, use: (ours: Contender) => Promise<void>): Promise<void> {
  const ours = await startServe(build);
  try {
    await use(ours);
  } finally {
    await ours.stop();
  }
}
