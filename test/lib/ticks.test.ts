import { AsyncLocalStorage } from "node:async_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it, vi } from "vitest";
import { keepTicksFast } from "../../src/lib/ticks.ts";

setFlagsFromString("--expose-gc");
const collectAll = runInNewContext("gc") as () => void;

it("M80 what is kept of a tick does not keep what its maker was doing", async () => {
  const storage = new AsyncLocalStorage<object>();
  const store = storage.run({ request: "large" }, () => {
    keepTicksFast();
    return new WeakRef(storage.getStore() as object);
  });
  await vi.waitFor(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    collectAll();
    expect(store.deref()).toBeUndefined();
  });
});
