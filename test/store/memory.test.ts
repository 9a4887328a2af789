import { expect, test } from "vitest";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { storeContract } from "./contract.ts";

storeContract("memory store", async (now) => createMemoryStore({ now }));

test("a memory store reports that it is not durable", () => {
  expect(createMemoryStore().durable).toBe(false);
});
