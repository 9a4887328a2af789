import { describe, expect, test } from "vitest";
import type { Heard, Store } from "../../src/store/store.ts";
import type { Subject } from "./contract.ts";

export function messageContract(name: string, subject: () => Promise<Subject>): void {
  describe(`${name}: messages`, () => {
    test("everybody who listens hears every message once, in order, and only those of its channel", async () => {
      const { store } = await subject();
      await store.messages.publish("news", "too early");
      const [one, two, other] = [
        await listen(store, "news"),
        await listen(store, "news"),
        await listen(store, "x"),
      ];
      for (let i = 0; i < 30; i++) await store.messages.publish("news", { i });
      await store.messages.publish("x", "for others");
      const all = Array.from({ length: 30 }, (_, i) => ({ i }));
      expect(await one.until(30)).toEqual(all);
      expect(await two.until(30)).toEqual(all);
      expect(await other.until(1)).toEqual(["for others"]);
      expect(one.heard).toHaveLength(30);
    });

    test("one who has stopped hears nothing more, also if that happens while others are told", async () => {
      const { store } = await subject();
      const heard: unknown[] = [];
      const stops: (() => void)[] = [];
      for (let i = 0; i < 2; i++)
        stops.push(
          await store.messages.subscribe("a", (one) => {
            heard.push(one);
            for (const stop of stops) stop();
          }),
        );
      const last = await listen(store, "a");
      await store.messages.publish("a", 1);
      await store.messages.publish("a", 2);
      expect(await last.until(2)).toEqual([1, 2]);
      expect(heard).toEqual([{ type: "message", message: 1 }]);
    });

    test("an error in one listener does not keep a message from the others, and nobody shares an object", async () => {
      const { store } = await subject();
      await store.messages.subscribe("a", (heard) => {
        if (heard.type === "message") (heard.message as { list: number[] }).list.push(2);
        throw new Error("mine");
      });
      const other = await listen(store, "a");
      await store.messages.publish("a", { list: [1] });
      expect(await other.until(1)).toEqual([{ list: [1] }]);
    });

    test("listening within a callback doubles nothing, and hears only what is published afterwards", async () => {
      const { store } = await subject();
      const heard: unknown[] = [];
      const late: unknown[] = [];
      await store.messages.subscribe("a", (one) => {
        heard.push(one.type === "message" && one.message);
        void store.messages.subscribe("a", (other) => void late.push(other));
      });
      const last = await listen(store, "a");
      await Promise.all([1, 2, 3].map((number) => store.messages.publish("a", number)));
      expect(await last.until(3)).toEqual([1, 2, 3]);
      await listen(store, "a");
      expect(heard).toEqual([1, 2, 3]);
      expect(late).toEqual([]);
    });

    test("a message that is too long, or is not JSON, is refused", async () => {
      const { store } = await subject();
      const wrong = { code: "usage-invalid" };
      await expect(store.messages.publish("a", "x".repeat(70_000))).rejects.toMatchObject(wrong);
      await expect(store.messages.publish("a", undefined)).rejects.toMatchObject(wrong);
      await expect(store.messages.publish("", 1)).rejects.toMatchObject(wrong);
      await expect(store.messages.subscribe("", () => undefined)).rejects.toMatchObject(wrong);
    });
  });
}

/** What one listener has heard; `until` resolves when it is this much. */
export async function listen(store: Store, channel: string) {
  const heard: unknown[] = [];
  let wake = () => {};
  const stop = await store.messages.subscribe(channel, (one: Heard) => {
    heard.push(one.type === "message" ? one.message : one.type);
    wake();
  });
  const until = async (count: number) => {
    while (heard.length < count) await new Promise<void>((resolve) => (wake = resolve));
    return heard;
  };
  return { heard, until, stop };
}
