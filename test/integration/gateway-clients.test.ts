import { describe, expect, it } from "vitest";
import type { CompatClient } from "../../compat/clients/client.ts";
import { inspector } from "../../compat/clients/inspector.ts";
import { sdkV1 } from "../../compat/clients/sdk-v1.ts";
import { sdkV2 } from "../../compat/clients/sdk-v2.ts";
import { gateway } from "../../compat/server.ts";
import { visit } from "../../compat/visit.ts";

/** Others are too large to install for every test run: `node compat/run.ts` has them. */
const clients: [CompatClient, string][] = [
  [sdkV1, "2025-11-25"],
  [sdkV2, "2026-07-28"],
  [inspector, "2026-07-28"],
];

describe.each(clients)("M80 $title from npm before `plugboard serve`", (client, revision) => {
  it.each(["stdio", "http"] as const)("lists and calls over %s, on a first start", async (transport) => {
    const { seen, works, listed, failure, transcript } = await visit(client, transport, gateway);
    expect({ works, listed, failure }, transcript.join("\n")).toEqual({
      works: true,
      listed: true,
      failure: undefined,
    });
    expect(seen.revision).toBe(revision);
    expect(seen.methods).toMatchObject({ "tools/list": expect.any(Number), "tools/call": 1 });
  });
});
