/**
 * Does everything that processes share through a store, one step each time it is told to, and reports each step. Told
 * `run`, it goes on by itself.
 */
import { once } from "node:events";
import { openStore } from "../../../src/store/open.ts";

const [path = ""] = process.argv.slice(2);
const store = await openStore({ path }, (warning) => {
  throw new Error(warning);
});
const { id } = await store.presence.announce("programs", process.pid);

const steps = [
  (round: number) =>
    store.log.append(
      "log",
      [1, 2, 3].map((part) => ({ round, part })),
    ),
  () => store.counters.add("rounds", { lastsMs: 3_600_000 }),
  (round: number) => store.messages.publish("news", { round }),
  (round: number) => store.set("round", round),
  async (round: number) => {
    const lease = await store.acquireLease("job", { ttlMs: 3_600_000 });
    if (round % 2 === 0) await lease?.release();
  },
];

process.send?.({ id });
let isRunning = false;
for (let done = 0; ; done++) {
  if (!isRunning) isRunning = (await once(process, "message"))[0] === "run";
  await steps[done % steps.length]?.(Math.floor(done / steps.length));
  process.send?.({ done: done + 1 });
}
