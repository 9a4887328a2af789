import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { statePath, temporaryFolder } from "./folder.ts";

const isRoot = process.getuid?.() === 0;

describe("the state file", () => {
  test("is readable by its owner alone, like its folder and side files", async () => {
    const { path } = await written();
    expect(mode(dirname(path))).toBe("700");
    const names = readdirSync(dirname(path));
    expect(names.toSorted()).toEqual(["state.sqlite", "state.sqlite-shm", "state.sqlite-wal"]);
    expect(names.map((name) => mode(join(dirname(path), name)))).toEqual(["600", "600", "600"]);
  });

  test("is made private again if a copy made it readable", async () => {
    const { path, store } = await written();
    await store.close();
    chmodSync(path, 0o644);
    const { store: again } = await open(path);
    expect(await again.get("a")).toMatchObject({ value: 1 });
    expect(mode(path)).toBe("600");
  });

  test("is refused when it is a symbolic link", async () => {
    const { path, store } = await written();
    await store.close();
    const link = join(dirname(path), "link.sqlite");
    symlinkSync(path, link);
    await expect(open(link)).rejects.toMatchObject(refusal("unsafe", link));
    const dangling = join(dirname(path), "dangling.sqlite");
    symlinkSync(join(dirname(path), "nowhere"), dangling);
    await expect(open(dangling)).rejects.toMatchObject(refusal("unsafe", dangling));
  });

  test("is refused when its folder is a symbolic link", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "real"), { mode: 0o700 });
    symlinkSync(join(folder, "real"), join(folder, "link"));
    await expect(open(join(folder, "link", "state.sqlite"))).rejects.toMatchObject(
      refusal("unsafe", join(folder, "link")),
    );
    expect(readdirSync(join(folder, "real"))).toEqual([]);
  });

  test.runIf(isRoot)("is refused when it or its folder belongs to somebody else", async () => {
    const { path, store } = await written();
    await store.close();
    chownSync(path, 12_345, 12_345);
    await expect(open(path)).rejects.toMatchObject(refusal("unsafe", path));
    chownSync(path, 0, 0);
    chownSync(dirname(path), 12_345, 12_345);
    await expect(open(path)).rejects.toMatchObject(refusal("unsafe", dirname(path)));
  });

  test("is refused when others can change it or its folder, and neither is altered", async () => {
    const { path, store } = await written();
    await store.close();
    chmodSync(path, 0o620);
    await expect(open(path)).rejects.toMatchObject(refusal("unsafe", path));
    chmodSync(path, 0o600);
    chmodSync(dirname(path), 0o777);
    await expect(open(path)).rejects.toMatchObject(refusal("unsafe", dirname(path)));
    expect(mode(dirname(path))).toBe("777");
  });

  test("is refused, without blocking, when it is a folder or a FIFO", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "directory"));
    execFileSync("mkfifo", ["-m", "600", join(folder, "fifo")]);
    for (const path of [join(folder, "directory"), join(folder, "fifo")]) {
      await expect(open(path)).rejects.toMatchObject(refusal("unsafe", path));
    }
  });

  test("is refused and not changed if a newer Plugboard wrote it", async () => {
    const { path, store } = await written();
    await store.close();
    change(path, "PRAGMA user_version = 99");
    const before = readFileSync(path);
    await expect(open(path)).rejects.toMatchObject(refusal("newer", path));
    await expect(open(path)).rejects.toThrow("newer Plugboard (format 99)");
    expect(readFileSync(path)).toEqual(before);
  });

  test("is refused and not changed if it is another program's database", async () => {
    const path = join(temporaryFolder(), "other.sqlite");
    change(path, "CREATE TABLE theirs (a)");
    const before = readFileSync(path);
    await expect(open(path)).rejects.toMatchObject(refusal("foreign", path));
    expect(readFileSync(path)).toEqual(before);
  });
});

describe("a damaged state file", () => {
  const damages: Record<string, (path: string) => void> = {
    "overwritten with text": (path) => writeFileSync(path, "not a database\n".repeat(500)),
    "cut in the middle": (path) => truncateSync(path, 5000),
    "cut in its header": (path) => truncateSync(path, 60),
    "with a broken schema": (path) => {
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.fill(0x5a, 100, 4096));
    },
  };

  test.each(Object.keys(damages))("%s is moved aside with one warning, and the store works", async (kind) => {
    const { path, store } = await written();
    await store.close();
    damages[kind]!(path);
    const damaged = readFileSync(path);
    const { store: fresh, warnings } = await open(path);
    expect(fresh.durable).toBe(true);
    expect(await fresh.get("a")).toBeUndefined();
    await fresh.set("a", 2);
    const aside = readdirSync(dirname(path)).filter((name) => /^state\.sqlite\.corrupt-\w+$/.test(name));
    expect(aside).toHaveLength(1);
    expect(readFileSync(join(dirname(path), aside[0]!))).toEqual(damaged);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(aside[0]);
  });

  test("is moved aside once, even if many processes find it at the same time", async () => {
    const { path, store } = await written();
    await store.close();
    writeFileSync(path, "damaged".repeat(1000));
    const opened = await Promise.all(Array.from({ length: 10 }, () => open(path)));
    await Promise.all(opened.map(({ store }, index) => store.set(`from ${index}`, index)));
    expect(await opened[0]!.store.list("from ")).toHaveLength(10);
    expect(opened.flatMap(({ warnings }) => warnings)).toHaveLength(1);
  });
});

describe("where state cannot be written", () => {
  const places: Record<string, () => string> = {
    "under a regular file": () => {
      const file = join(temporaryFolder(), "file");
      writeFileSync(file, "");
      return join(file, "plugboard", "state.sqlite");
    },
    "directly in a regular file": () => {
      const file = join(temporaryFolder(), "file");
      writeFileSync(file, "");
      return join(file, "state.sqlite");
    },
    "in a folder that cannot be created": () => "/proc/plugboard/state.sqlite",
    "in a folder that takes no files": () => "/proc/state.sqlite",
    "with a name that is too long": () => join(temporaryFolder(), "n".repeat(300), "state.sqlite"),
  };

  test.each(Object.keys(places))("%s, Plugboard goes on in memory and warns exactly once", async (kind) => {
    const path = places[kind]!();
    const { store, warnings } = await open(path);
    expect(store.durable).toBe(false);
    expect(await store.set("a", 1)).toEqual(expect.any(Number));
    expect(await store.get("a")).toMatchObject({ value: 1 });
    expect(await store.acquireLease("job", { ttlMs: 1000 })).toBeDefined();
    expect(warnings).toEqual([expect.stringContaining(path)]);
  });
});

async function open(path: string): Promise<{ store: Store; warnings: string[] }> {
  const warnings: string[] = [];
  const store = await openStore({ path }, (warning) => void warnings.push(warning));
  onTestFinished(() => store.close());
  return { store, warnings };
}

async function written(): Promise<{ path: string; store: Store }> {
  const path = statePath();
  const { store, warnings } = await open(path);
  expect(warnings).toEqual([]);
  await store.set("a", 1);
  return { path, store };
}

function refusal(reason: string, path: string) {
  return { code: "store-unavailable", data: { reason, path } };
}

function change(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

function mode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}
