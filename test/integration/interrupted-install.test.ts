import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { createHub, loadConfig } from "../../src/index.ts";
import { repairNpxFolder } from "../../src/lib/npx/repair.ts";
import { processWords } from "../../src/lib/proc.ts";
import { commandLine } from "../command-line.ts";
import { newcomer, npxFolders, registryWithNotes } from "../fixtures/registry/npx-server.ts";
import type { SmallRegistry } from "../fixtures/registry/small-registry.ts";
import { rounds } from "../rounds.ts";
import type { Sandbox } from "../sandbox.ts";
import { processesWith, until } from "../servers/stdio-fixture.ts";

const parts = 12;
/** Still more of them: INTERRUPTED_INSTALLS=50 npm run test:long. */
const interruptions = rounds(2, Number(process.env["INTERRUPTED_INSTALLS"] ?? 5));

let registry: SmallRegistry;

beforeAll(async () => {
  registry = await registryWithNotes(parts);
});

afterAll(() => registry[Symbol.asyncDispose]());

function startCall({ options }: Sandbox) {
  const child = spawn(process.execPath, [commandLine, "call", "notes.read"], {
    cwd: options.cwd,
    env: options.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, said }));
  return { child, ended };
}

const marked = (cache: string) => processesWith(`npm_config_cache=${cache}`);

async function npmOf(cache: string): Promise<number[]> {
  const found = marked(cache);
  const words = await Promise.all(found.map(processWords));
  return found.filter((_, index) => words[index]?.[0] === "npm");
}

type Ending = [string, (child: { kill(signal: NodeJS.Signals): unknown }, cache: string) => unknown];

const endings: Ending[] = [
  ["Plugboard is killed", (child) => child.kill("SIGKILL")],
  ["npm is killed", async (_, cache) => (await npmOf(cache)).forEach((pid) => process.kill(pid, "SIGKILL"))],
  [
    "everything is killed at once",
    (child, cache) => {
      child.kill("SIGKILL");
      for (const pid of marked(cache)) process.kill(pid, "SIGKILL");
    },
  ],
  ["the person presses Ctrl-C", (child) => child.kill("SIGINT")],
  ["Plugboard is ended", (child) => child.kill("SIGTERM")],
];

describe("M20 an install that is interrupted", () => {
  const moments = Array.from({ length: interruptions }, (_, round) => {
    const ending = endings[round % endings.length] ?? endings[0];
    return { what: ending?.[0], end: ending?.[1], at: Math.floor(Math.random() * (parts + 2)) };
  });

  it.each(moments)("after download $at because $what: the next start works", async ({ end, at }) => {
    const { box, cache } = newcomer(registry);
    const before = registry.downloads;
    const { child, ended } = startCall(box);
    await registry.download(before + Math.min(at, parts + 1));
    await new Promise((resume) => setTimeout(resume, Math.random() * 300));
    await end?.(child, cache);
    await ended;
    await until(() => marked(cache).length === 0, "nothing of the install is left");
    const { code, said } = await startCall(box).ended;
    expect({ code, said }).toMatchObject({ code: 0, said: expect.stringContaining("called read") as string });
  });
});

/** A hub with one server that `npx` has to install. */
async function hubOf({ box }: { box: Sandbox }) {
  const hub = await createHub(await loadConfig(box.options), { env: box.env });
  onTestFinished(() => hub.close());
  return hub;
}

/** Leaves downloads unanswered until it is called. */
function holdDownloads(): () => void {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  registry.beforeDownload = () => promise;
  onTestFinished(() => {
    registry.beforeDownload = () => undefined;
    release();
  });
  return release;
}

/** Serves both protocols, after `initialize` only the older one. Writes down what it is asked. */
const bilingual = `#!/usr/bin/env node
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
const note = (text) => appendFileSync(process.argv[2], text + "\\n");
note("started");
let isLegacy = false;
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (/^(?:server.discover|initialize)$/.test(method)) note(method);
  if (method === "initialize") isLegacy = true;
  const { protocolVersion } = params ?? {};
  const serverInfo = { name: "both", version: "1" };
  const modern = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {}, serverInfo, ttlMs: 0, cacheScope: "private" };
  const result =
    method === "server/discover" && !isLegacy ? modern
    : method === "initialize" ? { protocolVersion, capabilities: {}, serverInfo }
    : undefined;
  const error = { code: -32601, message: "Method not found" };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }));
});
`;

describe("M20 an install that takes longer than a start may", () => {
  it("gets more time while it goes on, and says what it waits for", async () => {
    const one = newcomer(registry, { startupTimeoutMs: 6_000 });
    const startedAt = performance.now();
    const release = holdDownloads();
    const hub = await hubOf(one);
    const details: string[] = [];
    hub.on("connection-changed", ({ detail }) => void (detail && details.push(detail)));
    const result = hub.callTool("notes.read");
    const { host } = new URL(registry.url);
    await vi.waitFor(() => expect(details).toContain(`npx is waiting for an answer from ${host}`));
    await vi.waitFor(() => expect(performance.now() - startedAt).toBeGreaterThan(7_000));
    release();
    expect((await result).content).toEqual([{ type: "text", text: "called read" }]);
  });

  it("says in the terminal of a command what it waits for, and so does `status`", async () => {
    const { host } = new URL(registry.url);
    for (const [words, stream] of [
      [["call", "notes.read"], "onErr"],
      [["status"], "onOut"],
    ] as const) {
      const { box } = newcomer(registry);
      const release = holdDownloads();
      const onText = (text: string) =>
        void (text.includes(`npx is waiting for an answer from ${host}`) && release());
      const run = await box.cli(words, { screen: { columns: 120, rows: 24 }, [stream]: onText });
      expect(run.code).toBe(0);
    }
  });

  it("does not count as the server's time to answer: the server is only asked for the modern protocol", async () => {
    registry.publish("both", { "main.mjs": bilingual }, { type: "module", bin: { both: "main.mjs" } });
    const { box } = newcomer(registry, { args: ["both", "${HOME}/greetings.txt"] });
    const release = holdDownloads();
    const hub = await hubOf({ box });
    const before = registry.downloads;
    hub.on("connection-changed", ({ detail = "" }) => {
      if (registry.downloads > before && detail.includes("waiting")) release();
    });
    await hub.connect("notes");
    expect(hub.status()).toMatchObject([{ era: "modern", state: "connected" }]);
    expect(box.read("home/greetings.txt")).toBe("started\nserver/discover\n");
  });

  it("is ended if its registry is silent, and the error says so; the next start works", async () => {
    const one = newcomer(registry, { startupTimeoutMs: 6_000 });
    const release = holdDownloads();
    const hub = await hubOf(one);
    const error = await hub.callTool("notes.read").catch((reason: unknown) => reason);
    const { host } = new URL(registry.url);
    expect(error).toMatchObject({
      code: "start-timeout",
      message: expect.stringMatching(
        `^"notes" was not installed within \\d+ s: npx is waiting for an answer from ${host}\\.`,
      ) as string,
      hint: expect.stringMatching(/^npx may be waiting for its registry\. .*set HTTPS_PROXY/) as string,
      executed: "no",
    });
    expect(npxFolders(one.cache).flatMap((folder) => readdirSync(folder))).toEqual([]);
    release();
    await hub.reconnect();
    expect((await hub.callTool("notes.read")).content).toEqual([{ type: "text", text: "called read" }]);
  });

  it("leaves nothing behind if the hub is closed meanwhile", async () => {
    const one = newcomer(registry);
    holdDownloads();
    const hub = await hubOf(one);
    const before = registry.downloads;
    const result = hub.callTool("notes.read").catch(() => undefined);
    await registry.download(before + parts);
    await hub.close();
    await result;
    expect(marked(one.cache)).toEqual([]);
    expect(npxFolders(one.cache).flatMap((folder) => readdirSync(folder))).toEqual([]);
  });

  it("is left alone while another npx works in its folder", async () => {
    const one = newcomer(registry);
    const release = holdDownloads();
    const before = registry.downloads;
    const args = ["-y", "notes", one.box.path("offer.json")];
    const env = { ...one.box.env, npm_config_registry: registry.url, npm_config_cache: one.cache };
    const other = spawn("npx", args, { cwd: one.box.project, env, stdio: ["pipe", "ignore", "ignore"] });
    const ended = once(other, "exit");
    await registry.download(before + parts);
    const [folder = ""] = npxFolders(one.cache);
    expect(await repairNpxFolder(folder, ["notes"])).toBe("in-use");
    // In another cache it does not matter that the same package is being installed.
    const elsewhere = one.box.path("other-cache/_npx/52bc17386a630c3e");
    one.box.write("other-cache/_npx/52bc17386a630c3e/node_modules/part-0/package.json", "{}");
    expect(await repairNpxFolder(elsewhere, ["notes"])).toBe("repaired");
    expect(readdirSync(elsewhere)).toEqual([]);
    const result = (await hubOf(one)).callTool("notes.read");
    release();
    expect((await result).content).toEqual([{ type: "text", text: "called read" }]);
    other.stdin.end();
    await ended;
  });
});
