/**
 * Our gateway in front of stdio servers, as it is delivered: token, checks and validation on, and somebody who listens to
 * the events. Run: node ours.ts <src or dist> <token> <servers as JSON> [telemetry]
 */
import { join } from "node:path";
import type * as Library from "../../../src/index.ts";
import type * as Gateways from "../../../src/gateway/index.ts";

const [build = "src", token = "", servers = "{}", recorded] = process.argv.slice(2);
const root = join(import.meta.dirname, "..", "..", "..", build);
const extension = build === "src" ? "ts" : "js";
const { createHub } = (await import(join(root, `index.${extension}`))) as typeof Library;
const { createGateway } = (await import(join(root, "gateway", `index.${extension}`))) as typeof Gateways;
const telemetry =
  recorded === "telemetry"
    ? await (await import("../recording.ts")).openRecording(join(root, "telemetry", `index.${extension}`))
    : undefined;

// The others list every tool, however many there are.
const hub = await createHub(
  { servers: JSON.parse(servers) as Record<string, { command: string }>, toolSearch: false },
  { telemetry },
);
let events = 0;
const count = () => void events++;
for (const type of ["call-start", "call-end", "connection-changed"] as const) hub.on(type, count);
const gateway = createGateway(hub, { token, telemetry });
const { port } = await gateway.listen();
console.log(`port ${port}`);

const end = async () => {
  await gateway.close({ drainMs: 0 });
  await hub.close();
  process.exit();
};
process.stdin.on("end", () => void end()).resume();
process.on("SIGTERM", () => void end());
