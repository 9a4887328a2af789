import { spawnSync } from "node:child_process";
import { renameSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Clock, Store } from "../../src/store/store.ts";
import { storeContract } from "./contract.ts";
import { statePath } from "./folder.ts";

const minute = 60_000;

storeContract("sqlite store", (now) => openSqliteStore({ path: statePath(), now }, unexpected));

describe("sqlite store", () => {
  test("values survive reopening the file, and the store reports that it is durable", async () => {
    const path = statePath();
    const first = await open(path);
    const version = await first.set("a", { b: 1 });
    await first.close();
    const second = await open(path);
    expect(second.durable).toBe(true);
    expect(await second.get("a")).toEqual({ value: { b: 1 }, version });
  });

  test("two stores on one file see each other's writes and leases immediately", async () => {
    const path = statePath();
    const [a, b] = await Promise.all([open(path), open(path)]);
    const version = await a.set("key", 1);
    expect(await b.compareAndSet("key", version, 2)).toBeDefined();
    expect(await a.compareAndSet("key", version, 3)).toBeUndefined();
    const lease = await a.acquireLease("job", { ttlMs: minute });
    expect(await b.acquireLease("job", { ttlMs: minute })).toBeUndefined();
    await lease!.release();
    expect((await b.acquireLease("job", { ttlMs: minute }))!.fence).toBe(lease!.fence + 1);
  });

  test.each(["deleted", "moved away"])(
    "if the file is %s, an open store uses the new one like everybody else",
    async (what) => {
      const path = statePath();
      const a = await open(path);
      const lost = await a.acquireLease("job", { ttlMs: minute });
      if (what === "deleted")
        for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
      else renameSync(path, `${path}.old`);
      expect(await lost!.renew()).toBe(false);
      expect(await a.acquireLease("job", { ttlMs: minute })).toBeDefined();
      await a.set("decision", 1);
      const b = await open(path);
      expect(await b.acquireLease("job", { ttlMs: minute })).toBeUndefined();
      expect(await b.get("decision")).toMatchObject({ value: 1 });
    },
  );

  test("closing releases only the leases of this store", async () => {
    const path = statePath();
    const [a, b] = await Promise.all([open(path), open(path)]);
    await a.acquireLease("of a", { ttlMs: minute });
    await b.acquireLease("of b", { ttlMs: minute });
    await a.close();
    expect(await b.acquireLease("of a", { ttlMs: minute })).toBeDefined();
    const c = await open(path);
    expect(await c.acquireLease("of b", { ttlMs: minute })).toBeUndefined();
  });

  test("later writes delete expired rows, even when there are many", async () => {
    const path = statePath();
    let time = 0;
    const store = await open(path, () => time);
    for (let i = 0; i < 450; i++) await store.set(`old ${i}`, i, { ttlMs: 10 });
    time = 120_000;
    for (let i = 0; i < 3; i++) await store.set("new", i);
    expect(raw(path).prepare("SELECT key FROM entries").all()).toEqual([{ key: "new" }]);
  });

  test("the fence keeps increasing even if the file is lost", async () => {
    let time = 1000;
    const [before, after] = [await open(statePath(), () => time), await open(statePath(), () => time)];
    const lease = await before.acquireLease("job", { ttlMs: minute });
    time += 1000;
    expect((await after.acquireLease("job", { ttlMs: minute }))!.fence).toBeGreaterThan(lease!.fence);
  });

  test("the lease of a process that has ended is free immediately", async () => {
    const { store, change } = await leaseHeldBySomebody();
    change("pid", spawnSync(process.execPath, ["--version"]).pid);
    expect(await store.acquireLease("job", { ttlMs: minute })).toBeDefined();
  });

  test.runIf(process.platform === "linux")(
    "a process that got the number of the dead holder does not keep its lease",
    async () => {
      const { store, change } = await leaseHeldBySomebody();
      expect(await store.acquireLease("job", { ttlMs: minute })).toBeUndefined();
      change("started", "1");
      expect(await store.acquireLease("job", { ttlMs: minute })).toBeDefined();
    },
  );

  test("a holder in another container or on another machine keeps its lease until it expires", async () => {
    const { store, change, advance } = await leaseHeldBySomebody();
    change("pid", spawnSync(process.execPath, ["--version"]).pid);
    change("place", "elsewhere");
    expect(await store.acquireLease("job", { ttlMs: minute })).toBeUndefined();
    advance(minute);
    expect(await store.acquireLease("job", { ttlMs: minute })).toBeDefined();
  });

  test("a write that does not fit fails as store-unavailable and the old value stays", async () => {
    const path = statePath();
    const store = await open(path);
    const version = await store.set("a", "old");
    const database = raw(path);
    database.exec("CREATE TRIGGER full BEFORE INSERT ON entries BEGIN SELECT raise(ABORT, 'full'); END");
    await expect(store.set("a", "new")).rejects.toMatchObject({ code: "store-unavailable" });
    await expect(store.compareAndSet("a", version, "new")).rejects.toMatchObject({
      code: "store-unavailable",
    });
    expect(await store.get("a")).toEqual({ value: "old", version });
  });

  test("a value that is no longer JSON is reported as damage, not thrown as a syntax error", async () => {
    const path = statePath();
    const store = await open(path);
    await store.set("a", 1);
    raw(path).exec("UPDATE entries SET value = '{'");
    const damaged = { code: "store-unavailable", data: { reason: "corrupt", path } };
    await expect(store.get("a")).rejects.toMatchObject(damaged);
    await expect(store.list("")).rejects.toMatchObject(damaged);
  });
});

async function leaseHeldBySomebody() {
  const path = statePath();
  let time = 1000;
  const holder = await open(path, () => time);
  const store = await open(path, () => time);
  await holder.acquireLease("job", { ttlMs: minute });
  const change = (column: "pid" | "started" | "place", value: string | number) =>
    raw(path).prepare(`UPDATE leases SET ${column} = ?`).run(value);
  return { store, change, advance: (ms: number) => void (time += ms) };
}

async function open(path: string, now?: Clock): Promise<Store> {
  const store = await openSqliteStore({ path, now }, unexpected);
  onTestFinished(() => store.close());
  return store;
}

function raw(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 5000 });
  onTestFinished(() => database.close());
  return database;
}

function unexpected(warning: string): void {
  throw new Error(`unexpected warning: ${warning}`);
}
