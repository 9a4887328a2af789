/** Waits for the lease and reports its fence; `hold` then keeps it for ever, `pass` writes it down and gives it back. */
import { openStore } from "../../../src/store/open.ts";

const [path = "", what = "pass"] = process.argv.slice(2);
const store = await openStore({ path }, (warning) => {
  throw new Error(warning);
});
process.send?.("ready");
const lease = await store.acquireLease("job", { ttlMs: 3_600_000, waitMs: 120_000 });
if (!lease) throw new Error("not served");
process.send?.({ fence: lease.fence });
if (what === "pass") {
  const seen = await store.get("fences");
  const fences = Array.isArray(seen?.value) ? seen.value : [];
  const won = await store.compareAndSet("fences", seen?.version, [...fences, lease.fence]);
  if (won === undefined) throw new Error("somebody else held the lease at the same time");
  await lease.release();
  await store.close();
  process.disconnect();
}
