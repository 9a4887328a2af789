import { expect, it } from "vitest";
import { PacedChanges } from "../../src/calls/paced-changes.ts";

const changing = (server: string, size: number) => ({ key: { server }, subscribers: { size } });

it("changes that come faster than they can be passed on are told once, later; those of other servers at once", async () => {
  const [busy, gone, quiet] = [changing("busy", 4_000), changing("busy", 4_000), changing("quiet", 1)];
  const told: unknown[] = [];
  const late = Promise.withResolvers<void>();
  const changes = new PacedChanges<typeof busy>((one) => {
    told.push(one);
    if (told.length === 4) late.resolve();
  });
  for (let count = 0; count < 1_000; count++) changes.changed(busy);
  changes.changed(gone);
  changes.forget(gone);
  changes.changed(quiet);
  expect(told).toEqual([busy, busy, quiet]);
  await late.promise;
  expect(told[3]).toBe(busy);
  changes.close();
});
