import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Clock, Store } from "../../src/store/store.ts";
import { storeContract } from "./contract.ts";
import { statePath } from "./folder.ts";
import { listen } from "./message-contract.ts";

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

describe("sqlite store: what processes share", () => {
  test("messages reach another store on the file, whichever of them publishes", async () => {
    const path = statePath();
    const [a, b] = await Promise.all([open(path), open(path)]);
    const [atA, atB] = [await listen(a, "news"), await listen(b, "news")];
    await a.messages.publish("news", "from a");
    await b.messages.publish("news", "from b");
    for (const listener of [atA, atB]) expect(await listener.until(2)).toEqual(["from a", "from b"]);
  });

  test("one who listens again at once after the last has stopped hears other stores too", async () => {
    const path = statePath();
    const [a, b] = await Promise.all([open(path), open(path)]);
    const first = await listen(a, "news");
    first.stop();
    await b.messages.publish("news", "between");
    const second = await listen(a, "news");
    await b.messages.publish("news", "after");
    expect(await second.until(1)).toEqual(["after"]);
    expect(first.heard).toEqual([]);
  });

  test("a listener that was away for too long hears that it has missed something, and then what is there", async () => {
    const path = statePath();
    const [a, b] = await Promise.all([open(path), open(path)]);
    const late = await listen(b, "news");
    raw(path).exec(`INSERT INTO messages (channel, message, at) VALUES ('news', '1', 0), ('news', '2', 0);
      DELETE FROM messages WHERE message = '1'`);
    expect(await late.until(2)).toEqual(["missed", 2]);
    raw(path).exec(
      `INSERT INTO messages (channel, message, at) VALUES ('news', '3', 0); DELETE FROM messages`,
    );
    expect(await late.until(3)).toEqual(["missed", 2, "missed"]);
    await a.messages.publish("news", 4);
    expect(await late.until(4)).toEqual(["missed", 2, "missed", 4]);
  });

  test("a listener hears that it may have missed something if the file was replaced", async () => {
    const path = statePath();
    const [a, b] = await Promise.all([open(path), open(path)]);
    const [atA, atB] = [await listen(a, "news"), await listen(b, "news")];
    for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
    expect(await atB.until(1)).toEqual(["missed"]);
    expect(await atA.until(1)).toEqual(["missed"]);
    await a.messages.publish("news", "still here");
    expect(await atB.until(2)).toEqual(["missed", "still here"]);
  });

  test("a listener hears that it may have missed something if an earlier copy of the file was restored", async () => {
    const path = statePath();
    const [a, b] = await Promise.all([open(path), open(path)]);
    const atB = await listen(b, "news");
    await a.messages.publish("news", 1);
    await a.messages.publish("news", 2);
    expect(await atB.until(2)).toEqual([1, 2]);
    raw(path).exec("DELETE FROM messages; UPDATE sqlite_sequence SET seq = 0 WHERE name = 'messages'");
    await a.messages.publish("news", "restored");
    expect(await atB.until(3)).toContain("missed");
    await a.messages.publish("news", "after");
    await a.messages.publish("news", "at last");
    while (!atB.heard.includes("at last")) await atB.until(atB.heard.length + 1);
    expect(atB.heard.filter((one) => one === "after")).toHaveLength(1);
  });

  test("a great many short messages are too much as well", async () => {
    const path = statePath();
    const store = await open(path, () => 1);
    raw(path).exec(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT 200000)
      INSERT INTO messages (channel, message, at) SELECT 'a', '1', 1 FROM numbers`);
    for (let i = 0; i < 100; i++) await store.messages.publish("a", i);
    const [row] = raw(path).prepare("SELECT count(*) AS count FROM messages").all();
    expect(row?.["count"]).toBeLessThanOrEqual(8_388_608 / 50);
  });

  test("old messages are removed, and more than 8 MB of them too, the oldest first", async () => {
    const path = statePath();
    let time = 0;
    const store = await open(path, () => time);
    await store.messages.publish("news", "old");
    time = 60_000;
    for (let i = 0; i < 199; i++) await store.messages.publish("news", "x".repeat(60_000));
    const [row] = raw(path)
      .prepare("SELECT count(*) AS count, sum(length(message)) AS size, min(at) AS at FROM messages")
      .all();
    expect(row).toMatchObject({ at: 60_000 });
    expect(Number(row?.["size"])).toBeLessThanOrEqual(8_388_608);
    expect(Number(row?.["count"])).toBeGreaterThan(100);
  });

  test("a log is one for all stores, and a write that fails in the middle appends nothing", async () => {
    const path = statePath();
    const [a, b] = await Promise.all([open(path), open(path)]);
    await a.log.append("audit", [1, 2]);
    expect(await b.log.append("audit", [3])).toBe(3);
    raw(path).exec(
      "CREATE TRIGGER full BEFORE INSERT ON log_entries WHEN new.number = 5 BEGIN SELECT raise(ABORT, 'full'); END",
    );
    await expect(a.log.append("audit", [4, 5])).rejects.toMatchObject({ code: "store-unavailable" });
    expect(await b.log.extent("audit")).toEqual({ first: 1, last: 3 });
    expect(await a.log.append("audit", [4])).toBe(4);
  });

  test("counters whose windows have ended do not stay in the file", async () => {
    const path = statePath();
    let time = 0;
    const store = await open(path, () => time);
    for (let i = 0; i < 999; i++) await store.counters.add(`old ${i}`, { lastsMs: 10 });
    time = 20;
    await store.counters.add("new", { lastsMs: 10 });
    expect(raw(path).prepare("SELECT name FROM counters").all()).toEqual([{ name: "new" }]);
  });

  test("one whose process has ended is not there any more, and one elsewhere for as long as it gives signs", async () => {
    const path = statePath();
    let time = 1_000;
    const [a, b] = [await open(path, () => time), await open(path, () => time)];
    const { id } = await a.presence.announce("gateways", 1);
    const change = (column: "pid" | "place", value: string | number) =>
      raw(path).prepare(`UPDATE present SET ${column} = ?`).run(value);
    change("place", "elsewhere");
    expect(await b.presence.isPresent("gateways", id)).toBe(true);
    time += 15_000;
    expect(await b.presence.members("gateways")).toEqual([]);
    const { id: other } = await a.presence.announce("gateways", 2);
    change("pid", spawnSync(process.execPath, ["--version"]).pid);
    expect(await b.presence.isPresent("gateways", other)).toBe(false);
    expect(await b.presence.members("gateways")).toEqual([]);
  });

  test("closing ends the presence of this store alone", async () => {
    const path = statePath();
    const [a, b] = await Promise.all([open(path), open(path)]);
    await a.presence.announce("gateways", "a");
    const { id } = await b.presence.announce("gateways", "b");
    await a.close();
    expect(await b.presence.members("gateways")).toEqual([{ id, value: "b" }]);
  });
});

describe("a state file of an earlier version", () => {
  test("opens with everything that is in it, and takes what is new", async () => {
    const path = formerFile();
    const store = await open(path, () => Date.UTC(2026, 10, 19));
    expect((await store.list("")).map(({ key, version }) => [key, version])).toEqual([
      ["approval/a_abcdefghij", 2],
      ["catalog/fedcba9876543210", 6],
      ["server/fedcba9876543210", 3],
      ["trust/0123456789abcdef", 1],
    ]);
    expect((await store.get("trust/0123456789abcdef"))?.value).toEqual({
      at: 1763424000000,
      scope: "project",
    });
    expect(await store.set("new", 1)).toBe(7);
    const lease = await store.acquireLease("config:/home/ada/.mcp.json", { ttlMs: minute });
    expect(lease?.fence).toBe(1_794_960_000_001);
    expect(await store.log.append("audit", [1])).toBe(1);
    expect(await store.counters.add("calls", { lastsMs: 1 })).toMatchObject({ total: 1 });
    await store.close();
    const again = await open(path);
    expect(await again.log.read("audit")).toEqual([{ number: 1, value: 1 }]);
  });

  test("is brought to today's format once, however many open it at the same time", async () => {
    const path = formerFile();
    const stores = await Promise.all(Array.from({ length: 5 }, () => open(path)));
    await Promise.all(stores.map((store, i) => store.log.append("audit", [i])));
    expect(await stores[0]!.log.extent("audit")).toEqual({ first: 1, last: 5 });
    expect(raw(path).prepare("SELECT count(*) AS count FROM steps").all()).toEqual([{ count: 1 }]);
  });

  test("can still be used by that version: its tables and its number of the format are as they were", async () => {
    const path = formerFile();
    const before = formatOf(path);
    await (await open(path)).close();
    const after = formatOf(path);
    expect(after.version).toEqual(before.version);
    expect(after.tables).toEqual(expect.arrayContaining(before.tables));
  });

  test("is not changed if a later Plugboard has added more to it", async () => {
    const path = statePath();
    await (await open(path)).close();
    raw(path).exec("CREATE TABLE later (a); INSERT INTO steps (taken) VALUES (1000)");
    const store = await open(path);
    expect(await store.set("a", 1)).toBe(1);
    expect(raw(path).prepare("SELECT max(taken) AS taken FROM steps").all()).toEqual([{ taken: 1000 }]);
  });
});

/** A state file that was written before there were logs, messages, counters and presence. */
function formerFile(): string {
  const path = statePath();
  mkdirSync(dirname(path), { mode: 0o700 });
  copyFileSync(join(import.meta.dirname, "..", "fixtures", "state", "format-1.sqlite"), path);
  chmodSync(path, 0o600);
  return path;
}

function formatOf(path: string) {
  const database = raw(path);
  const version = database.prepare("PRAGMA user_version").get();
  const tables = database.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").all();
  return { version, tables };
}

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
