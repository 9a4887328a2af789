import { expect, it } from "vitest";
import { openLoad } from "../../bench/gateway/load-scene.ts";
import { rounds } from "../rounds.ts";
import { growth } from "../../bench/samples.ts";

it("M80 M81 each request is answered once while servers are killed at random, and nothing is left behind", async () => {
  await using load = await openLoad();
  await load.run(rounds(1_500, 6_000));
  const first = await load.sample("first");
  await load.run(rounds(1_500, 6_000));
  const last = await load.sample("last");
  const closed = await load.close();
  expect(load.problems).toEqual([]);
  for (const what of ["call", "list", "read", "question", "cancellation", "legacy client", "modern client"])
    expect(load.counts.get(what), what).toBeGreaterThan(0);
  // Sockets of clients stay open for a while. How much memory a young process needs says nothing; a longer run of bench/gateway-load.ts looks at that.
  const grown = growth(first, last, 32, 32).filter((one) => !one.startsWith("heap"));
  expect(grown).toEqual([]);
  expect(closed.children).toBe(0);
});
