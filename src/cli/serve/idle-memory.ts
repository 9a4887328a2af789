import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** A process that is busy for less of the time is quiet. */
const quietUtilization = 0.02;
const worthBytes = 32 * 1024 * 1024;

/**
 * Gives memory back when the process was busy and is quiet now. V8 keeps for hours what a burst of requests made it take,
 * beside an editor and a browser on somebody's machine. Collecting takes some 20 ms, at a time when nobody waits.
 */
export function returnIdleMemory(everyMs = 5_000): Disposable {
  let before = performance.eventLoopUtilization();
  let kept = 0;
  let collect: Collect | undefined;
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    const resident = process.memoryUsage.rss();
    if (utilization > quietUtilization || resident < kept + worthBytes) return;
    collect ??= collector();
    collect({ type: "major", execution: "sync", flavor: "last-resort" });
    kept = process.memoryUsage.rss();
  }, everyMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

type Collect = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

/** Without a flag at the start of the process there is no other way to it. */
function collector(): Collect {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as Collect;
  setFlagsFromString("--no-expose-gc");
  return collect;
}
