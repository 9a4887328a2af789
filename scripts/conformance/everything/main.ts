/**
 * A stdio server with everything that the conformance suite looks for, written without an SDK.
 * Run: node scripts/conformance/everything/main.ts legacy|modern
 */
import { createInterface } from "node:readline";
import { EverythingServer } from "./server.ts";
import type { Fields } from "./wire.ts";

const era = process.argv[2];
if (era !== "legacy" && era !== "modern") throw new Error("Say which era: legacy or modern.");

const server = new EverythingServer(era, (message) => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
});
for await (const line of createInterface(process.stdin)) {
  void server.receive(JSON.parse(line) as Fields);
}
