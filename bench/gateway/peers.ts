import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Contender } from "./contenders.ts";
import { echoCommand, freePort, startOnPort } from "./processes.ts";

/** Exact versions, so that everybody measures the same. */
const versions = { "mcp-proxy": "6.7.19", supergateway: "4.0.0", mcporter: "0.12.3", "mcp-hub": "4.2.1" };

/** The peers that install from npm and stand before a stdio server; installed once into a folder of their own. */
export async function installPeers(): Promise<string> {
  const folder = join(tmpdir(), "plugboard-bench-peers");
  const wanted = JSON.stringify({ private: true, dependencies: versions }, undefined, 2);
  const file = join(folder, "package.json");
  const isThere = (await readFile(file, "utf8").catch(() => "")) === wanted;
  if (isThere) return join(folder, "node_modules");
  console.log(`installing ${Object.keys(versions).join(", ")} into ${folder}`);
  await rm(folder, { recursive: true, force: true, maxRetries: 20 });
  await mkdir(folder, { recursive: true });
  const all = Object.entries(versions).map(([name, version]) => `${name}@${version}`);
  const npm = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", ...all];
  await promisify(execFile)("npm", npm, { cwd: folder });
  await writeFile(file, wanted);
  return join(folder, "node_modules");
}

/** All peers before an echo server with so many tools. */
export function startPeers(modules: string | undefined, tools: number): Promise<Contender>[] {
  if (modules === undefined) return [];
  return [startMcpProxy, startSupergateway, startMcporter, startMcpHub].map((start) => start(modules, tools));
}

async function startMcpProxy(modules: string, tools: number): Promise<Contender> {
  const port = await freePort();
  const script = join(modules, "mcp-proxy/dist/bin/mcp-proxy.mjs");
  const args = [
    "--host",
    "127.0.0.1",
    "--port",
    String(port),
    "--server",
    "stream",
    "--",
    ...echoCommand(tools),
  ];
  const own = await startOnPort([script, ...args], port);
  const target = { url: `http://127.0.0.1:${port}/mcp`, tool: "echo" };
  const targets = {
    legacy: { ...target, era: "legacy" as const },
    modern: { ...target, era: "modern" as const },
  };
  return { ...own, name: "mcp-proxy", kind: "peer", targets };
}

/** It has no option for the address and listens on all of them, so the default is changed from outside. */
async function startSupergateway(modules: string, tools: number): Promise<Contender> {
  const port = await freePort();
  const script = join(modules, "supergateway/dist/index.js");
  const command = echoCommand(tools).join(" ");
  const args = [
    "--stdio",
    command,
    "--outputTransport",
    "streamableHttp",
    "--stateful",
    "--port",
    String(port),
  ];
  const own = await startOnPort(["--import", loopbackOnly, script, ...args, "--logLevel", "none"], port);
  const target = { url: `http://127.0.0.1:${port}/mcp`, tool: "echo", era: "legacy" as const };
  return { ...own, name: "supergateway", kind: "peer", targets: { legacy: target } };
}

const loopbackOnly = `data:text/javascript,${encodeURIComponent(`
  import { Server } from "node:net";
  const { listen } = Server.prototype;
  Server.prototype.listen = function (port, ...rest) {
    return Number.isInteger(port) && typeof rest[0] !== "string"
      ? listen.call(this, port, "127.0.0.1", ...rest)
      : listen.call(this, port, ...rest);
  };
`)}`;

async function startMcporter(modules: string, tools: number): Promise<Contender> {
  const port = await freePort();
  const script = join(modules, "mcporter/dist/cli.js");
  const [command, ...args] = echoCommand(tools);
  const home = await mkdtemp(join(tmpdir(), "plugboard-bench-"));
  const config = join(home, "mcporter.json");
  const echo = { command, args, lifecycle: "keep-alive" };
  await writeFile(config, JSON.stringify({ mcpServers: { echo }, imports: [] }));
  const env = { ...process.env, HOME: home };
  const own = await startOnPort([script, "--config", config, "serve", "--http", String(port)], port, env);
  const target = { url: `http://127.0.0.1:${port}/mcp`, tool: "echo__echo", era: "legacy" as const };
  return {
    ...own,
    name: "mcporter",
    kind: "peer",
    targets: { legacy: target },
    async stop() {
      await own.stop();
      // Its servers belong to a daemon.
      await promisify(execFile)(process.execPath, [script, "--config", config, "daemon", "stop"], {
        env,
      }).catch(() => undefined);
      await rm(home, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

async function startMcpHub(modules: string, tools: number): Promise<Contender> {
  const port = await freePort();
  const script = join(modules, "mcp-hub/dist/cli.js");
  const [command, ...args] = echoCommand(tools);
  const home = await mkdtemp(join(tmpdir(), "plugboard-bench-"));
  const config = join(home, "hub.json");
  await writeFile(config, JSON.stringify({ mcpServers: { echo: { command, args } } }));
  const env = { ...process.env, HOME: home };
  const run = ["--import", loopbackOnly, script, "--port", String(port), "--config", config];
  const own = await startOnPort(run, port, env);
  const target = { url: `http://127.0.0.1:${port}/mcp`, tool: "echo__echo", era: "legacy" as const };
  return {
    ...own,
    name: "mcp-hub (SSE)",
    kind: "peer",
    targets: { legacy: { ...target, transport: "sse" } },
    async stop() {
      await own.stop();
      await rm(home, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}
