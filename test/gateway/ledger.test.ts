import { describe, expect, it } from "vitest";
import { KindOfHeld } from "../../src/gateway/ledger.ts";
import type { HoldLimit } from "../../src/gateway/ledger.ts";

const none: HoldLimit = { perCaller: Infinity, total: Infinity, bytesPerCaller: Infinity, bytes: Infinity };

/** A kind whose things say when they were evicted. */
function open(limit: Partial<HoldLimit>) {
  const kind = new KindOfHeld({ ...none, ...limit });
  const evicted: string[] = [];
  const busy = new Set<string>();
  const hold = (caller: string, name: string, bytes = 0) =>
    kind.hold(caller, { isBusy: () => busy.has(name), evict: () => void evicted.push(name) }, bytes);
  return { kind, evicted, busy, hold };
}

describe("a caller that has all it may have", () => {
  it("loses what it has not used for longest, and others lose nothing", () => {
    const { hold, evicted } = open({ perCaller: 2 });
    hold("bob", "bob's");
    const first = hold("ada", "first");
    hold("ada", "second");
    first?.touch();
    expect(hold("ada", "third")).toBeDefined();
    expect(evicted).toEqual(["second"]);
  });

  it("keeps what is in use, and is refused if that is everything", () => {
    const { hold, evicted, busy, kind } = open({ perCaller: 2 });
    busy.add("first").add("second");
    hold("ada", "first");
    hold("ada", "second");
    expect(hold("ada", "third")).toBeUndefined();
    busy.delete("second");
    expect(hold("ada", "third")).toBeDefined();
    expect([evicted, kind.count]).toEqual([["second"], 2]);
  });

  it("is measured in bytes as well, also when something grows", () => {
    const { hold, evicted, kind } = open({ bytesPerCaller: 100 });
    hold("ada", "first", 60);
    const second = hold("ada", "second", 40);
    second?.grow(1);
    expect([evicted, kind.bytes]).toEqual([["first"], 41]);
    expect(hold("ada", "too large", 101)).toBeUndefined();
  });

  it("may have one thing that has grown beyond the limit", () => {
    const { hold, evicted } = open({ bytesPerCaller: 100 });
    hold("ada", "large")?.grow(200);
    expect(evicted).toEqual([]);
    expect(hold("ada", "next", 1)).toBeDefined();
    expect(evicted).toEqual(["large"]);
  });

  it("keeps the rest of what can give up a part", () => {
    const kind = new KindOfHeld({ ...none, bytesPerCaller: 100 });
    const asked: number[] = [];
    const evict = (bytes: number) => {
      asked.push(bytes);
      queue?.shrink(bytes);
    };
    const queue = kind.hold("ada", { hasParts: true, evict }, 0);
    queue?.grow(130);
    expect([asked, queue?.bytes, kind.count]).toEqual([[30], 100, 1]);
  });
});

describe("too much for all callers together", () => {
  it("costs the one that has the most, and never one that has less than who wants more", () => {
    const { hold, evicted, busy } = open({ total: 4 });
    busy.add("bob's");
    for (const name of ["1", "2", "3"]) hold("ada", name);
    hold("bob", "bob's");
    expect(hold("eve", "eve's")).toBeDefined();
    expect(hold("ada", "4")).toBeDefined();
    expect(evicted).toEqual(["1", "2"]);
    busy.add("3").add("4");
    expect(hold("ada", "5")).toBeUndefined();
  });

  it("costs the one whose oldest is unused for longest, where all have the same", () => {
    const { hold, evicted } = open({ total: 2 });
    const early = hold("ada", "ada's");
    hold("bob", "bob's");
    early?.touch();
    hold("eve", "eve's");
    expect(evicted).toEqual(["bob's"]);
  });
});

describe("what is over", () => {
  it("is counted no longer, whatever is still said about it", () => {
    const { hold, kind } = open({});
    const holding = hold("ada", "one", 10);
    holding?.release();
    holding?.grow(5);
    holding?.touch();
    holding?.release();
    expect([kind.count, kind.bytes, kind.accounts.size, holding?.moveTo("bob")]).toEqual([0, 0, 0, false]);
  });

  it("moves to another caller with its bytes, if that one has room", () => {
    const { hold, kind, busy } = open({ perCaller: 1 });
    busy.add("one").add("two");
    const one = hold("ada", "one", 10);
    expect(one?.moveTo("bob")).toBe(true);
    const two = hold("eve", "two");
    expect([two?.moveTo("bob"), two?.caller]).toEqual([false, "eve"]);
    expect([...kind.accounts.keys()]).toEqual(["bob", "eve"]);
  });
});
