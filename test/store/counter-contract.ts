import { describe, expect, test } from "vitest";
import type { Subject } from "./contract.ts";

export function counterContract(name: string, subject: () => Promise<Subject>): void {
  describe(`${name}: counters`, () => {
    test("a counter counts until its window ends, and the next addition begins another", async () => {
      const { store, advance } = await subject();
      const { counters } = store;
      const first = await counters.add("calls", { lastsMs: 1_000 });
      expect(first).toEqual({ total: 1, endsAt: Date.UTC(2026, 0, 1) + 1_000, isAdded: true });
      advance(999);
      expect(await counters.add("calls", { lastsMs: 1_000 }, { by: 2.5 })).toEqual({ ...first, total: 3.5 });
      advance(1);
      expect(await counters.list("")).toEqual([]);
      const next = await counters.add("calls", { lastsMs: 1_000 });
      expect(next).toEqual({ total: 1, endsAt: first.endsAt + 1_000, isAdded: true });
    });

    test("a window can end at a given time", async () => {
      const { store, advance } = await subject();
      const endsAt = Date.UTC(2026, 0, 2);
      expect(await store.counters.add("day", { endsAt })).toMatchObject({ total: 1, endsAt });
      advance(80_000_000);
      expect(await store.counters.add("day", { endsAt })).toMatchObject({ total: 2, endsAt });
    });

    test("nothing is added beyond the limit, however many try at the same time", async () => {
      const { store } = await subject();
      const add = () => store.counters.add("calls", { lastsMs: 1_000 }, { limit: 5 });
      const tries = await Promise.all(Array.from({ length: 12 }, add));
      expect(tries.filter(({ isAdded }) => isAdded)).toHaveLength(5);
      expect(await add()).toMatchObject({ total: 5, isAdded: false });
      const large = await store.counters.add("large", { lastsMs: 1_000 }, { by: 6, limit: 5 });
      expect(large).toMatchObject({ total: 0, isAdded: false });
      expect(await store.counters.list("l")).toEqual([]);
    });

    test("what was taken too much can be given back, but never more than that", async () => {
      const { store } = await subject();
      const window = { lastsMs: 1_000 };
      await store.counters.add("tokens", window, { by: 10, limit: 10 });
      expect(await store.counters.add("tokens", window, { by: -4, limit: 1 })).toMatchObject({ total: 6 });
      expect(await store.counters.add("tokens", window, { by: -40 })).toMatchObject({ total: 0 });
      expect(await store.counters.add("new", window, { by: -1 })).toMatchObject({ total: 0 });
    });

    test("counters are listed by the beginning of their names", async () => {
      const { store } = await subject();
      for (const name of ["u/b", "u/a", "v/a", "u/\u{10ffff}"])
        await store.counters.add(name, { lastsMs: 1_000 });
      const names = (await store.counters.list("u/")).map(({ name: one, total }) => [one, total]);
      expect(names).toEqual([
        ["u/a", 1],
        ["u/b", 1],
        ["u/\u{10ffff}", 1],
      ]);
    });

    test("a window that began while the clock was wrong ends as if it began now, also at the limit", async () => {
      const { store, advance } = await subject();
      const lasts = { lastsMs: 1_000 };
      advance(1_000_000);
      for (const name of ["free", "full"]) await store.counters.add(name, lasts, { limit: 2, by: 2 });
      advance(-1_000_000);
      await store.counters.add("free", lasts, { by: 1 });
      expect(await store.counters.add("full", lasts, { limit: 2 })).toMatchObject({
        isAdded: false,
        total: 2,
      });
      advance(1_000);
      for (const name of ["free", "full"])
        expect(await store.counters.add(name, lasts, { limit: 2 })).toMatchObject({
          isAdded: true,
          total: 1,
        });
    });

    test("numbers that cannot be counted are refused", async () => {
      const { counters } = (await subject()).store;
      const wrong = { code: "usage-invalid" };
      await expect(counters.add("a", { lastsMs: Infinity })).rejects.toMatchObject(wrong);
      await expect(counters.add("a", { endsAt: 0.5 })).rejects.toMatchObject(wrong);
      await expect(counters.add("a", { lastsMs: 1 }, { by: NaN })).rejects.toMatchObject(wrong);
      await expect(counters.add("a", { lastsMs: 1 }, { limit: NaN })).rejects.toMatchObject(wrong);
      await expect(counters.add("", { lastsMs: 1 })).rejects.toMatchObject(wrong);
    });
  });
}
