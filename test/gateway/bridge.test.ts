import { afterAll, beforeAll, describe, test } from "vitest";
import { Table } from "./bridge/cell.ts";
import { cells } from "./bridge/cells.ts";
import { type FeatureId, features } from "./bridge/features.ts";
import { clientKinds, openScene, type Scene } from "./bridge/scene.ts";
import { upstreamKinds } from "./upstreams.ts";

/** Every cell of docs/bridge.md: one gateway, every kind of client, every kind of server. */
describe("M81 the bridge between the eras", () => {
  let scene: Scene;
  let table: Table;
  beforeAll(async () => {
    scene = await openScene(upstreamKinds);
    table = new Table(scene);
  }, 60_000);
  afterAll(() => scene.close());

  describe.each(clientKinds)("a %s client", (client) => {
    describe.each(upstreamKinds)("and a %s server", (upstream) => {
      test.each(
        Object.entries(cells).map(([id, run]) => [features[id as FeatureId].title, id, run] as const),
      )("%s", (_title, id, run) => table.run(id as FeatureId, client, upstream, run));
    });
  });
});
