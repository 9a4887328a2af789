import { describe, expect, it } from "vitest";
import type { WaitingQuestion } from "../../src/calls/queue/question.ts";
import { QuestionRecords } from "../../src/calls/queue/records.ts";
import { randomHandle } from "../../src/lib/random-handle.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";

const question = (id: string): WaitingQuestion => ({
  id,
  server: "it",
  tool: "t",
  toolId: "mcp__it__t",
  arguments: {},
  annotations: {},
  remember: {},
  because: "of a test",
  definition: "d",
  digest: "e",
  createdAt: 0,
  expiresAt: 1_000_000,
});

describe("M61 what is kept of questions", () => {
  it("is bounded, however often a client asks and gives up", async () => {
    const store = createMemoryStore({ now: () => 1 });
    const records = new QuestionRecords(
      async () => store,
      () => 1,
    );
    const first = randomHandle("q");
    await records.settle(first, { state: "approved", at: 0 }, 1_000_000);
    for (let number = 1; number <= 11_000; number++) {
      const id = randomHandle("q");
      if (number % 100 === 0) await records.add({ question: question(id) });
      await records.settle(id, { state: "gone", at: number }, 1_000_000);
      await records.forget(id);
    }
    const kept = await store.list("", {});
    expect(kept.length).toBeLessThan(10_300);
    expect(await records.verdict(first)).toMatchObject({ verdict: { state: "approved" } });
  });

  it("is nothing that another version of the program wrote", async () => {
    const store = createMemoryStore();
    const records = new QuestionRecords(
      async () => store,
      () => 1,
    );
    const id = randomHandle("q");
    await store.set(`question/${id}`, { question: { id } });
    await store.set(`verdict/${id}`, { state: "allowed" });
    await store.set(`asked/${id}`, "soon");
    expect([await records.get(id), await records.verdict(id), await records.marks()]).toEqual([
      undefined,
      undefined,
      [],
    ]);
  });

  it("does not come back when a client leaves its question while that is answered", async () => {
    const store = createMemoryStore({ now: () => 1 });
    let between = async () => {};
    const slow = {
      ...store,
      get: async (key: string) => {
        const found = await store.get(key);
        await between();
        return found;
      },
    };
    const [own, other] = [slow, store].map(
      (opened) =>
        new QuestionRecords(
          async () => opened,
          () => 1,
        ),
    );
    const id = randomHandle("q");
    await own?.add({ question: question(id) });
    between = async () => {
      between = async () => {};
      await other?.settle(id, { state: "approved", at: 1 }, 1_000_000);
    };
    await own?.leave(id);
    expect(await store.list("asked/")).toEqual([]);
  });
});
