import { afterAll, beforeAll, describe, test } from "vitest";
import { Table } from "./bridge/cell.ts";
import { cells } from "./bridge/cells.ts";
import { type FeatureId, features } from "./bridge/features.ts";
import { clientKinds, openScene, type Scene } from "./bridge/scene.ts";
import { throughCallTool } from "./through-call-tool.ts";

const upstreams = ["legacy-stdio", "modern-http"] as const;
/** Everything that can happen during a call. What it says about unknown names has a test of its own. */
const ofCalls = [
  "results",
  "arguments",
  "progress",
  "cancellation",
  "leaving",
  "form",
  "together",
  "page",
  "pageComplete",
  "pageRequired",
  "sampling",
  "roots",
  "parallel",
  "undeclared",
  "withdrawn",
  "clientError",
] as const satisfies readonly FeatureId[];

describe("M50 a call through `call_tool` is like a direct one", () => {
  let scene: Scene;
  let table: Table;
  beforeAll(async () => {
    const settings = { toolSearch: true, approval: "approve" };
    scene = await openScene(upstreams, { settings });
    const client: Scene["client"] = async (...options) => throughCallTool(await scene.client(...options));
    table = new Table({ ...scene, client });
  }, 60_000);
  afterAll(() => scene.close());

  describe.each(clientKinds)("of a %s client", (client) => {
    describe.each(upstreams)("to a %s server", (upstream) => {
      test.each(ofCalls.map((id) => [features[id].title, id] as const))("%s", (_title, id) =>
        table.run(id, client, upstream, cells[id]),
      );
    });
  });
});
