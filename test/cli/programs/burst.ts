/** Makes the heap grow as a burst of requests does, becomes quiet, and says when the memory has been given back. */
import { returnIdleMemory } from "../../../src/cli/serve/idle-memory.ts";

const residentMb = () => process.memoryUsage.rss() / 1024 / 1024;
using _memory = returnIdleMemory(100);
let kept: object[] = [];
for (let made = 0; made < 6_000_000; made++) {
  kept.push({ made, parts: [made] });
  if (kept.length > 20_000) kept = kept.slice(15_000);
}
kept = [];
const busy = residentMb();
await new Promise<void>((resolve) => {
  const look = setInterval(() => {
    if (residentMb() > busy - 40) return;
    clearInterval(look);
    resolve();
  }, 20);
});
process.stdout.write("returned\n");
