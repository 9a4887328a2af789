import { expect, it, onTestFinished } from "vitest";
import { openScene, troubles } from "../fixtures/faults/scene.ts";

it("M24 M47 lists, subscriptions and logins come back by themselves after every kind of trouble", async () => {
  const scene = await openScene({ random: () => 0 });
  onTestFinished(() => scene[Symbol.asyncDispose]());
  await Promise.all(
    Object.entries(troubles).map(async ([server, kinds]) => {
      for (const trouble of kinds) {
        await scene.cause(server, trouble);
        expect(await scene.recovered(server)).toBeGreaterThan(0);
      }
    }),
  );
}, 300_000);
