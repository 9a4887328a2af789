import { describe, expect, test } from "vitest";
import type { Subject } from "./contract.ts";

export function presenceContract(name: string, subject: () => Promise<Subject>): void {
  describe(`${name}: presence`, () => {
    test("those who are there are listed with what they say, until they leave", async () => {
      const { presence } = (await subject()).store;
      const one = await presence.announce("gateways", { port: 1 });
      const two = await presence.announce("gateways", { port: 2 });
      await presence.announce("others", {});
      const members = await presence.members("gateways");
      expect(members).toHaveLength(2);
      expect(members).toEqual(members.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
      expect(members).toContainEqual({ id: one.id, value: { port: 1 } });
      expect(await presence.isPresent("gateways", one.id)).toBe(true);
      expect(await presence.isPresent("others", one.id)).toBe(false);
      await one.leave();
      await one.leave();
      expect(await presence.isPresent("gateways", one.id)).toBe(false);
      expect(await presence.members("gateways")).toEqual([{ id: two.id, value: { port: 2 } }]);
    });

    test("one who is there stays there, however long", async () => {
      const { store, advance } = await subject();
      const { id } = await store.presence.announce("gateways", 1);
      advance(86_400_000);
      expect(await store.presence.isPresent("gateways", id)).toBe(true);
    });
  });
}
