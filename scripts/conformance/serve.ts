/**
 * Serves the everything-server of one era through the gateway, under its own names, as the conformance suite expects.
 * Run: node scripts/conformance/serve.ts legacy|modern
 */
import { join } from "node:path";
import { createGateway } from "../../src/gateway/index.ts";
import { createHub } from "../../src/index.ts";
import type { Era } from "./everything/wire.ts";

export interface Served extends AsyncDisposable {
  url: string;
}

/** The suite sends no token, so there is none; everything else is as a user would have it. */
export async function serveEverything(era: Era): Promise<Served> {
  const program = join(import.meta.dirname, "everything", "main.ts");
  const hub = await createHub({
    servers: { everything: { command: process.execPath, args: [program, era] } },
  });
  const gateway = createGateway(hub, { auth: "none", names: { style: "plain" } });
  await hub.tools();
  const { url } = await gateway.listen({ port: 0 });
  return {
    url,
    async [Symbol.asyncDispose]() {
      await gateway.close({ drainMs: 0 });
      await hub.close();
    },
  };
}

if (import.meta.main) {
  const era = process.argv[2];
  if (era !== "legacy" && era !== "modern") throw new Error("Say which era: legacy or modern.");
  console.log((await serveEverything(era)).url);
}
