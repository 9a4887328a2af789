import { expect, test } from "vitest";
import { hashAll, hashEntry } from "../../src/catalog/hashes.ts";
import type { KnownList } from "../../src/catalog/known-list.ts";
import { Snapshots } from "../../src/catalog/snapshot.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";

function toolsAt(at: number, description: string): { tools: KnownList } {
  const entries = Array.from({ length: 50 }, (_, index) => ({ name: `tool-${index}`, description }));
  const hashes = entries.map((entry) => hashEntry(entry).hash);
  const size = JSON.stringify(entries).length;
  const age = { at, ttlMs: 1_000, isSnapshot: false, session: undefined, changes: 0 };
  return { tools: { entries, hashes, hash: hashAll(hashes), size, ...age } };
}

test("the same lists of many callers are kept once, each with its own time", async () => {
  const store = createMemoryStore();
  const snapshots = new Snapshots(store);
  const names = Array.from({ length: 20 }, (_, index) => `caller-${index}`);
  for (const [index, name] of names.entries())
    await snapshots.save("server", name, toolsAt(index + 1, "Does the thing."));
  const kept = await store.list("");
  const size = kept.reduce((sum, { value }) => sum + JSON.stringify(value).length, 0);
  expect(size).toBeLessThan(2 * JSON.stringify(toolsAt(1, "Does the thing.")).length);
  for (const [index, name] of names.entries()) {
    const { tools } = await snapshots.load("server", name);
    expect([tools?.at, tools?.entries.length, tools?.ttlMs]).toEqual([index + 1, 50, 1_000]);
  }
});

test("a caller never gets the lists of another one or of another server", async () => {
  const snapshots = new Snapshots(createMemoryStore());
  await snapshots.save("server", "ada", toolsAt(1, "Ada's."));
  await snapshots.save("server", "bob", toolsAt(2, "Bob's."));
  await snapshots.save("server", undefined, toolsAt(3, "Everybody's."));
  const described = async (server: string, caller: string | undefined) =>
    (await snapshots.load(server, caller)).tools?.entries[0]?.["description"];
  expect(await described("server", "ada")).toBe("Ada's.");
  expect(await described("server", "bob")).toBe("Bob's.");
  expect(await described("server", undefined)).toBe("Everybody's.");
  expect(await described("other", "ada")).toBeUndefined();
  expect(await described("server", "eve")).toBeUndefined();
});
