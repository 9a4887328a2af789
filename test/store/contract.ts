import { afterEach, describe, expect, test } from "vitest";
import type { Clock, Store } from "../../src/store/store.ts";
import { counterContract } from "./counter-contract.ts";
import { leaseContract } from "./lease-contract.ts";
import { logContract } from "./log-contract.ts";
import { messageContract } from "./message-contract.ts";
import { presenceContract } from "./presence-contract.ts";

export interface Subject {
  store: Store;
  /** Moves the store's clock. */
  advance: (ms: number) => void;
}

/** What every implementation promises. `open` is called once for each test. */
export function storeContract(name: string, open: (now: Clock) => Promise<Store>): void {
  const opened: Store[] = [];
  const subject = async (): Promise<Subject> => {
    let time = Date.UTC(2026, 0, 1);
    const store = await open(() => time);
    opened.push(store);
    return { store, advance: (ms) => void (time += ms) };
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });

  describe(`${name}: entries`, () => {
    test("a value is returned as an equal copy", async () => {
      const { store } = await subject();
      const value = { text: "a\u0000b \ud800 🙂", list: [1, null, true], nested: { a: 1 } };
      await store.set("key/🙂 '\"%", value);
      const first = await store.get("key/🙂 '\"%");
      expect(first?.value).toEqual(value);
      expect((await store.get("key/🙂 '\"%"))?.value).not.toBe(first?.value);
      expect(await store.get("other")).toBeUndefined();
    });

    test("every write gives a new, larger version, and a deleted key never gets an old one back", async () => {
      const { store } = await subject();
      const versions = [await store.set("a", 1), await store.set("a", 1)];
      await store.delete("a");
      versions.push(await store.set("a", 1));
      expect(versions).toEqual([...new Set(versions)].sort((x, y) => x - y));
      expect((await store.get("a"))?.version).toBe(versions[2]);
      expect(await store.compareAndSet("a", versions[0], "stale")).toBeUndefined();
    });

    test("compare-and-set without a version creates once", async () => {
      const { store } = await subject();
      const version = await store.compareAndSet("a", undefined, "first");
      expect(version).toEqual(expect.any(Number));
      expect(await store.compareAndSet("a", undefined, "second")).toBeUndefined();
      expect(await store.get("a")).toEqual({ value: "first", version });
    });

    test("compare-and-set with the current version wins, with any other it changes nothing", async () => {
      const { store } = await subject();
      expect(await store.compareAndSet("a", 1, "no entry")).toBeUndefined();
      const old = await store.set("a", 1);
      const version = await store.compareAndSet("a", old, 2);
      expect(version).toBeGreaterThan(old);
      expect(await store.compareAndSet("a", old, 3)).toBeUndefined();
      expect(await store.get("a")).toEqual({ value: 2, version });
    });

    test("delete returns whether there was an entry, and does not delete another version", async () => {
      const { store } = await subject();
      const version = await store.set("a", 1);
      expect(await store.delete("a", version + 1)).toBe(false);
      expect(await store.delete("a", version)).toBe(true);
      expect(await store.delete("a")).toBe(false);
      await store.set("a", 2);
      expect(await store.delete("a")).toBe(true);
      expect(await store.get("a")).toBeUndefined();
    });

    test("list returns exactly the keys with the prefix, in byte order, page by page", async () => {
      const { store } = await subject();
      const inside = ["p%", "p%:", "p%:\u{ff5e}", "p%:\u{10ffff}", "p%:\u{10ffff}x", "p%a", "p%é", "p%🙂"];
      for (const key of [...inside, "p", "p&", "px", "q%", "P%"]) await store.set(key, key);
      const all = await store.list("p%");
      expect(all.map((entry) => entry.key)).toEqual(
        inside.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      );
      expect(all.every((entry) => entry.value === entry.key && entry.version > 0)).toBe(true);
      const page = await store.list("p%", { limit: 3, after: "p%:" });
      expect(page).toEqual(all.slice(2, 5));
      expect(await store.list("p%", { limit: 0 })).toEqual([]);
      expect(await store.list("")).toHaveLength(13);
    });

    test("an expired entry is gone for every method", async () => {
      const { store, advance } = await subject();
      const version = await store.set("a", 1, { ttlMs: 100 });
      advance(99);
      expect((await store.get("a"))?.value).toBe(1);
      advance(1);
      expect(await store.get("a")).toBeUndefined();
      expect(await store.list("")).toEqual([]);
      expect(await store.compareAndSet("a", version, 2)).toBeUndefined();
      expect(await store.delete("a")).toBe(false);
      await store.set("b", 1, { ttlMs: 0 });
      expect(await store.compareAndSet("b", undefined, 2, { ttlMs: 5 })).toBeGreaterThan(version);
      expect((await store.get("b"))?.value).toBe(2);
      advance(5);
      expect(await store.get("b")).toBeUndefined();
    });

    test("a write without ttlMs ends an earlier expiry", async () => {
      const { store, advance } = await subject();
      await store.set("a", 1, { ttlMs: 100 });
      await store.set("a", 2);
      advance(1000);
      expect((await store.get("a"))?.value).toBe(2);
    });

    test("a value that is not JSON is refused and the old value stays", async () => {
      const { store } = await subject();
      const version = await store.set("a", "old");
      const circle: Record<string, unknown> = {};
      circle["self"] = circle;
      for (const value of [undefined, () => 1, 1n, circle]) {
        await expect(store.set("a", value)).rejects.toMatchObject({ code: "usage-invalid" });
        await expect(store.compareAndSet("a", 0, value)).rejects.toMatchObject({ code: "usage-invalid" });
      }
      await expect(store.set("a", 1, { ttlMs: Number.NaN })).rejects.toMatchObject({ code: "usage-invalid" });
      expect(await store.get("a")).toEqual({ value: "old", version });
    });

    test("keys that could be confused with others are refused", async () => {
      const { store } = await subject();
      for (const key of ["", "a\u0000b", "\ud800"]) {
        await expect(store.set(key, 1)).rejects.toMatchObject({ code: "usage-invalid" });
        await expect(store.get(key)).rejects.toMatchObject({ code: "usage-invalid" });
      }
    });

    test("__proto__ is a key like any other", async () => {
      const { store } = await subject();
      await store.set("__proto__", JSON.parse('{"__proto__":{"polluted":true}}'));
      const value = (await store.get("__proto__"))?.value;
      expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":true}}');
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    });

    test("a closed store refuses everything, and closing it again is harmless", async () => {
      const { store } = await subject();
      await store.close();
      await store.close();
      const closed = { code: "store-unavailable", data: { reason: "closed" } };
      await expect(store.get("a")).rejects.toMatchObject(closed);
      await expect(store.set("a", 1)).rejects.toMatchObject(closed);
      await expect(store.list("")).rejects.toMatchObject(closed);
      await expect(store.acquireLease("a", { ttlMs: 1 })).rejects.toMatchObject(closed);
      await expect(store.log.append("a", [1])).rejects.toMatchObject(closed);
      await expect(store.log.read("a")).rejects.toMatchObject(closed);
      await expect(store.messages.publish("a", 1)).rejects.toMatchObject(closed);
      await expect(store.messages.subscribe("a", () => undefined)).rejects.toMatchObject(closed);
      await expect(store.counters.add("a", { lastsMs: 1 })).rejects.toMatchObject(closed);
      await expect(store.counters.list("")).rejects.toMatchObject(closed);
      await expect(store.presence.announce("a", 1)).rejects.toMatchObject(closed);
      await expect(store.presence.members("a")).rejects.toMatchObject(closed);
    });
  });

  leaseContract(name, subject);
  logContract(name, subject);
  messageContract(name, subject);
  counterContract(name, subject);
  presenceContract(name, subject);
}
