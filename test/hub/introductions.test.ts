import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { openHub } from "../servers/hub-fixture.ts";

describe("M80 what servers say about themselves", () => {
  it("is known from an earlier run without starting them, and forgotten with another program", async () => {
    const store = createMemoryStore();
    const entry = fakeStdio({ instructions: "Ask twice.", capabilities: { tools: {} } });
    const said = { capabilities: { tools: {} }, instructions: "Ask twice." };
    {
      await using first = await openHub({ one: entry }, { store });
      expect(await first.introductions()).toEqual(new Map());
      await first.connect("one");
      expect((await first.introductions()).get("one")).toMatchObject(said);
    }
    await using second = await openHub({ one: entry, other: fakeStdio({}) }, { store });
    expect(await second.introductions()).toEqual(new Map([["one", said]]));
    expect(second.status().map(({ state }) => state)).toEqual(["ready", "ready"]);
    await second.disable("one");
    expect(await second.introductions()).toEqual(new Map());
  });
});

describe("M80 what a server says to one caller or account", () => {
  const entry = fakeStdio({ instructions: "Ask twice.", capabilities: { tools: {} } });

  it("is not told to others: each caller has a connection of its own", async () => {
    const store = createMemoryStore();
    const servers = { one: { ...entry, isolation: "caller" as const } };
    {
      await using first = await openHub(servers, { store });
      await first.view({ caller: "ada" }).tools();
      expect(await first.introductions()).toEqual(new Map());
      await first.connect("one");
      expect(await first.introductions()).toEqual(new Map());
    }
    await using second = await openHub(servers, { store });
    expect(await second.introductions()).toEqual(new Map());
  });

  it("is forgotten when the entry has another variable, such as another key", async () => {
    const store = createMemoryStore();
    {
      await using first = await openHub({ one: entry }, { store });
      await first.connect("one");
    }
    const other = { ...entry, env: { ...entry.env, ACCOUNT: "other" } };
    await using second = await openHub({ one: other }, { store });
    expect(await second.introductions()).toEqual(new Map());
    await using third = await openHub({ one: entry }, { store });
    expect([...(await third.introductions()).keys()]).toEqual(["one"]);
  });
});
