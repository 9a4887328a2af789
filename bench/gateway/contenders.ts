import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Target } from "./load.ts";
import { echoCommand, startPrinting } from "./processes.ts";
import type { Program } from "./processes.ts";

/** Something that answers calls. */
export interface Contender extends Program {
  name: string;
  /** `peer` if another gateway; only those are compared with ours. */
  kind: "ours" | "peer" | "floor" | "sdk";
  /** How each era reaches it; what it does not serve is missing. */
  targets: { legacy?: Target; modern?: Target };
}

const here = join(import.meta.dirname, "programs");

const token = "bench-token-0123456789abcdef0123456789abcdef";

/** Our gateway from the build or the sources (`dist` or `src`), before an echo server with so many tools. */
export async function startOurs(build: string, tools: number): Promise<Contender> {
  const [command = "", ...args] = echoCommand(tools);
  return startOurGateway(build, { echo: { command, args } });
}

export async function startOurGateway(
  build: string,
  servers: Record<string, object>,
  /** `programs` of another checkout, and whether to record spans and metrics. */
  { programs = here, telemetry = false }: { programs?: string; telemetry?: boolean } = {},
): Promise<Contender> {
  const options = [build, token, JSON.stringify(servers), ...(telemetry ? ["telemetry"] : [])];
  const own = await startPrinting([join(programs, "ours.ts"), ...options]);
  return { ...own, name: "plugboard", kind: "ours", targets: ourTargets(own.port) };
}

function ourTargets(port: number): Contender["targets"] {
  const target = {
    url: `http://127.0.0.1:${port}/mcp`,
    tool: "echo__echo",
    headers: { authorization: `Bearer ${token}` },
  };
  return { legacy: { ...target, era: "legacy" }, modern: { ...target, era: "modern" } };
}

/** `plugboard serve` itself, with the configuration of one echo server in an empty home. */
export async function startServe(build: string): Promise<Contender> {
  const home = await mkdtemp(join(tmpdir(), "plugboard-serve-"));
  const config = join(home, "servers.json");
  const [command = "", ...args] = echoCommand(1);
  await writeFile(config, JSON.stringify({ mcpServers: { echo: { command, args } } }));
  const program = join(here, "..", "..", "..", build, "cli", build === "src" ? "main.ts" : "main.js");
  const env = { PATH: process.env["PATH"], HOME: home, PLUGBOARD_TOKEN: token };
  const own = await startPrinting([program, "serve", "--config", config, "--port", "0", "--json"], env);
  return {
    pid: own.pid,
    name: "plugboard serve",
    kind: "ours",
    targets: ourTargets(own.port),
    stop: async () => {
      await own.stop();
      await rm(home, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

export async function startFloor(kind: "http" | "pipe"): Promise<Contender> {
  const own = await startPrinting([join(here, "floor.ts"), kind, ...echoCommand(1)]);
  const target = { url: `http://127.0.0.1:${own.port}/mcp`, tool: "echo" };
  const name = kind === "http" ? "floor: node:http" : "byte pipe";
  // Nothing is negotiated with it; a modern call has no handshake.
  const either = { ...target, era: "modern" as const };
  return { ...own, name, kind: "floor", targets: { legacy: either, modern: either } };
}

export async function startSdkServer(version: "v1" | "v2"): Promise<Contender> {
  const own = await startPrinting([join(here, "sdk-server.ts"), version]);
  const target = { url: `http://127.0.0.1:${own.port}/mcp`, tool: "echo" };
  const modern = version === "v2" && { modern: { ...target, era: "modern" as const } };
  const targets = { legacy: { ...target, era: "legacy" as const }, ...modern };
  return { ...own, name: `SDK ${version}, direct`, kind: "sdk", targets };
}
