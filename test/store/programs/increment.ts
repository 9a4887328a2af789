/** Opens the store when told to, then adds one to a shared number as often as asked. */
import { once } from "node:events";
import { openStore } from "../../../src/store/open.ts";

const [path = "", times = "0"] = process.argv.slice(2);
process.send?.("ready");
await once(process, "message");
const warnings: string[] = [];
const store = await openStore({ path }, (warning) => void warnings.push(warning));
for (let done = 0; done < Number(times);) {
  const before = await store.get("count");
  const won = await store.compareAndSet("count", before?.version, Number(before?.value ?? 0) + 1);
  if (won !== undefined) done++;
}
await store.close();
process.send?.({ durable: store.durable, warnings });
process.disconnect();
