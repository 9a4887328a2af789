/** Writes larger and larger values until the system refuses; reports how that looked and what is left. */
import { openStore } from "../../../src/store/open.ts";

const [path = ""] = process.argv.slice(2);
const store = await openStore({ path }, (warning) => {
  throw new Error(warning);
});
let written = 0;
let error: unknown;
for (let size = 1; error === undefined && size < 1000; size++) {
  try {
    await store.set("a", { size, padding: "x".repeat(size * 1000) });
    written = size;
  } catch (failure) {
    error = failure;
  }
}
const kept = await store.get("a");
process.stdout.write(JSON.stringify({ written, kept: kept?.value, error }));
