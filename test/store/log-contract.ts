import { describe, expect, test } from "vitest";
import type { Subject } from "./contract.ts";

export function logContract(name: string, subject: () => Promise<Subject>): void {
  describe(`${name}: logs`, () => {
    test("entries are numbered from 1 without gaps, and read in the order in which they were appended", async () => {
      const { log } = (await subject()).store;
      expect(await log.append("audit", [{ a: 1 }, "two"])).toBe(2);
      expect(await log.append("other", [0])).toBe(1);
      expect(await log.append("audit", [null])).toBe(3);
      expect(await log.read("audit")).toEqual([
        { number: 1, value: { a: 1 } },
        { number: 2, value: "two" },
        { number: 3, value: null },
      ]);
      expect(await log.extent("audit")).toEqual({ first: 1, last: 3 });
      expect(await log.extent("new")).toEqual({ first: 0, last: 0 });
      expect(await log.read("new")).toEqual([]);
    });

    test("a part is read page by page, and never more than 1,000 entries at once", async () => {
      const { log } = (await subject()).store;
      for (let i = 0; i < 3; i++) await log.append("long", Array<number>(1_000).fill(i));
      expect(await log.read("long", { after: 998, limit: 3 })).toEqual([
        { number: 999, value: 0 },
        { number: 1000, value: 0 },
        { number: 1001, value: 1 },
      ]);
      expect(await log.read("long", { limit: Infinity })).toHaveLength(1_000);
      expect(await log.read("long", { limit: 0 })).toEqual([]);
      expect(await log.read("long", { after: 3_000 })).toEqual([]);
    });

    test("all of the values are appended or none", async () => {
      const { log } = (await subject()).store;
      await log.append("a", ["kept"]);
      const wrong = { code: "usage-invalid" };
      await expect(log.append("a", [1, 2n, 3])).rejects.toMatchObject(wrong);
      await expect(log.append("a", Array<number>(1_001).fill(0))).rejects.toMatchObject(wrong);
      await expect(log.append("a\u0000", [1])).rejects.toMatchObject(wrong);
      expect(await log.append("a", [])).toBe(1);
      expect(await log.read("a")).toEqual([{ number: 1, value: "kept" }]);
    });

    test("what is trimmed is gone, the rest keeps its numbers, and no number is used twice", async () => {
      const { log } = (await subject()).store;
      await log.append("a", [1, 2, 3]);
      await log.append("b", [1]);
      expect(await log.trim("a", 2)).toBe(2);
      expect(await log.trim("a", 2)).toBe(0);
      expect(await log.read("a")).toEqual([{ number: 3, value: 3 }]);
      expect(await log.extent("a")).toEqual({ first: 3, last: 3 });
      expect(await log.trim("a", 100)).toBe(1);
      expect(await log.extent("a")).toEqual({ first: 4, last: 3 });
      expect(await log.append("a", [4])).toBe(4);
      expect(await log.read("a", { after: 1 })).toEqual([{ number: 4, value: 4 }]);
      expect(await log.read("b")).toHaveLength(1);
    });

    test("entries that are appended at the same time do not mix", async () => {
      const { log } = (await subject()).store;
      await Promise.all(Array.from({ length: 20 }, (_, i) => log.append("a", Array<number>(10).fill(i))));
      const values = (await log.read("a")).map(({ value }) => value as number);
      for (let at = 0; at < 200; at += 10) expect(new Set(values.slice(at, at + 10)).size).toBe(1);
      expect(new Set(values).size).toBe(20);
    });
  });
}
