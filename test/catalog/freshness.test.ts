import { describe, expect, it } from "vitest";
import { Pace, freshness } from "../../src/catalog/freshness.ts";
import type { ListAge, Moment } from "../../src/catalog/freshness.ts";

const read: ListAge = { at: 1_000, ttlMs: 500, isSnapshot: false, session: 1, changes: 2 };
const soon: Moment = { now: 1_100, session: 1, changes: 2 };

describe("the freshness of a list", () => {
  it.each<[why: string, list: Partial<ListAge>, moment: Partial<Moment>, is: string]>([
    ["read in the running session", {}, {}, "confirmed"],
    ["the server said that it changed", {}, { changes: 3 }, "changed"],
    ["its time is over", {}, { now: 1_500 }, "expired"],
    ["its time is over and it changed", {}, { now: 1_500, changes: 3 }, "expired"],
    ["another session runs", {}, { session: 2 }, "changed"],
    ["no session runs", {}, { session: undefined }, "unconfirmed"],
    ["from an earlier run", { isSnapshot: true, session: undefined }, {}, "unconfirmed"],
    [
      "from an earlier run, and no session",
      { isSnapshot: true, session: undefined },
      { session: undefined },
      "unconfirmed",
    ],
  ])("%s: %s %s %s", (_, list, moment, is) => {
    expect(freshness({ ...read, ...list }, { ...soon, ...moment })).toBe(is);
  });
});

describe("a list that its server keeps reporting as changed", () => {
  it("is read immediately the first time, then after delays that grow from 1 s to 30 s", () => {
    const pace = new Pace();
    expect(pace.nextAt).toBe(-Infinity);
    const pauses: number[] = [];
    for (let now = 0, times = 0; times < 8; times++, now = pace.nextAt) {
      pace.reread(now, true);
      pauses.push(pace.nextAt - now);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it("is read immediately again after a quiet period", () => {
    const pace = new Pace();
    for (let time = 0; time < 8; time++) pace.reread(time, true);
    pace.reread(1_000_000, true);
    expect(pace.nextAt).toBe(1_001_000);
  });

  it("is read for every call as long as it really changes, and less often when it does not", () => {
    const pace = new Pace();
    for (let time = 0; time < 10; time++) pace.reread(time, true);
    expect(pace.mayReadToCall(10)).toBe(true);
    expect(pace.mayReadToList(10)).toBe(false);
    for (let time = 10; time < 13; time++) pace.reread(time, false);
    expect(pace.mayReadToCall(500)).toBe(false);
    expect(pace.mayReadToCall(1_012)).toBe(true);
    pace.reread(1_012, true);
    expect(pace.mayReadToCall(1_013)).toBe(true);
  });

  it("is not delayed by a clock that was set back", () => {
    const pace = new Pace();
    for (let time = 0; time < 5; time++) pace.reread(1_000_000, false);
    expect(pace.mayReadToCall(1_000_001)).toBe(false);
    expect(pace.mayReadToCall(5)).toBe(true);
    expect(pace.mayReadToList(5)).toBe(true);
  });
});
