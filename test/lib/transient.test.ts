import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, it } from "vitest";
import { growth } from "../processor-time.ts";
import { Slots, TransientMap } from "../../src/lib/transient.ts";

setFlagsFromString("--expose-gc");
const collectAll = runInNewContext("gc") as (options: { type: "major" | "minor" }) => void;

it("M80 what was removed is gone, and places are used again", () => {
  const slots = new Slots<{ name: string }>();
  const one = slots.add({ name: "one" });
  const two = slots.add({ name: "two" });
  slots.remove(one);
  expect([slots.size, slots.at(one), slots.at(two)?.name]).toEqual([1, undefined, "two"]);
  expect(slots.add({ name: "three" })).toBe(one);
  expect([...slots].map(({ name }) => name).toSorted()).toEqual(["three", "two"]);
});

it("M80 a map of what is under way keeps the order and the first value of a key", () => {
  const map = new TransientMap<{ n: number }>();
  const added = ["a", "b", "c", "a"].map((key, n) => map.add(key, { n }));
  expect(added).toEqual([true, true, true, false]);
  expect([map.size, map.has("a"), map.get("a")?.n, map.get("x")]).toEqual([3, true, 0, undefined]);
  expect([map.delete("b"), map.delete("b")]).toEqual([true, false]);
  expect([...map.values()].map(({ n }) => n)).toEqual([0, 2]);
  expect([map.take("a")?.n, map.take("a")]).toEqual([0, undefined]);
  expect([...map.values()].map(({ n }) => n)).toEqual([2]);
});

it("M80 a map of what is under way says the same as a Map, whatever comes and goes", () => {
  // A few keys that often meet, some of them alike in their last characters.
  const key = fc.oneof(
    fc.integer({ min: 0, max: 200 }).map(String),
    fc.integer({ min: 0, max: 9 }).map((n) => `${n}${"-".repeat(12)}`),
  );
  const step = fc.tuple(fc.constantFrom("add", "take"), key);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
      const map = new TransientMap<{ at: number }>();
      const plain = new Map<string, { at: number }>();
      for (const [at, [kind, name]] of steps.entries()) {
        if (kind === "add") {
          expect(map.add(name, { at })).toBe(!plain.has(name));
          if (!plain.has(name)) plain.set(name, { at });
        } else {
          expect(map.take(name)).toEqual(plain.get(name));
          plain.delete(name);
        }
        expect(map.size).toBe(plain.size);
      }
      expect([...map.values()]).toEqual([...plain.values()]);
      for (const [name, value] of plain) expect(map.get(name)).toEqual(value);
    }),
  );
});

it("M80 a map of what is under way takes time in proportion, however alike the keys are", async () => {
  const churn = (count: number) => async () => {
    const map = new TransientMap<object>();
    const keys = Array.from({ length: count }, (_, at) => `${"x".repeat(100)}${at}-the-same-for-all`);
    for (const key of keys) map.add(key, keys);
    for (const key of keys) expect(map.take(key)).toBe(keys);
  };
  expect(await growth(churn(2_000), churn(16_000), { enough: 12 })).toBeLessThan(24);
});

it("M80 values that are removed while they are looked at are left out", () => {
  const map = new TransientMap<{ name: string }>();
  for (const name of ["one", "two", "three"]) map.add(name, { name });
  const seen: string[] = [];
  for (const { name } of map.values()) {
    seen.push(name);
    map.delete("two");
    map.add("four", { name: "four" });
  }
  expect(seen).toEqual(["one", "three"]);
});

it("M80 requests that are over do not pile up until the next full collection", () => {
  const inFlight = 32;
  const map = new TransientMap<{ payload: number[] }>();
  let next = 0;
  const churn = (count: number) => {
    for (let i = 0; i < count; i++) {
      map.add(String(next++), { payload: Array.from({ length: 1_000 }, () => i) });
      map.delete(String(next - inFlight));
    }
  };
  churn(1_000);
  // Now the tables are old. Young collections alone have to find what is over.
  collectAll({ type: "major" });
  const before = process.memoryUsage().heapUsed;
  for (let round = 0; round < 10; round++) {
    churn(1_000);
    collectAll({ type: "minor" });
    collectAll({ type: "minor" });
  }
  expect((process.memoryUsage().heapUsed - before) / 1024 / 1024).toBeLessThan(8);
});
