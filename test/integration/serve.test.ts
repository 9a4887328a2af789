import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmodSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { fakeStdio, startFakeHttp } from "../fixtures/fake/index.ts";
import { HttpWire } from "../gateway/clients/http-wire.ts";
import { openClient } from "../gateway/clients/open-client.ts";
import { StdioWire } from "../gateway/clients/stdio-wire.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { processesWith } from "../servers/stdio-fixture.ts";
import { commandLine } from "../command-line.ts";

const user = "home/.config/plugboard/config.json";

/** A real `plugboard serve`, ended with the test. */
function start(box: Sandbox, args: readonly string[]) {
  const child = spawn(process.execPath, [commandLine, "serve", ...args], {
    cwd: box.project,
    env: box.env,
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const said = { out: "", err: "" };
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text));
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const logs = (text: RegExp | string) =>
    vi.waitFor(() => expect(said.err).toMatch(text), { timeout: 90_000, interval: 50 });
  return { child, said, exited, logs };
}

async function startHttp(box: Sandbox, args: readonly string[] = []) {
  const serving = start(box, ["--port", "0", "--json", ...args]);
  const [line] = (await once(serving.child.stdout.setEncoding("utf8"), "data")) as [string];
  const { url, tokenFile } = JSON.parse(line) as { url: string; tokenFile: string };
  const headers = { authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` };
  const wire = new HttpWire({ url, headers });
  return { ...serving, url, wire };
}

const waitingServer = resolve("test/integration/programs/waiting-server.mjs");

/** A server whose processes can be found. */
function markedServer(
  server: { command: string; args: string[]; env?: Record<string, string> } = fakeStdio(),
) {
  const mark = randomUUID();
  return {
    config: { ...server, env: { ...server.env, SERVE_MARK: mark } },
    left: () => processesWith(`SERVE_MARK=${mark}`).length,
  };
}

describe("M80 ending plugboard serve", () => {
  it("lets a running call finish after SIGTERM, takes no new one, and leaves nothing behind", async () => {
    const box = createSandbox();
    const file = box.path("home/done");
    const server = markedServer({
      command: process.execPath,
      args: [waitingServer, file, box.path("home/began")],
    });
    box.write(user, { mcpServers: { one: server.config } });
    const { child, wire, url, exited, logs } = await startHttp(box);
    await logs(/one +connected/);
    const client = await openClient("modern", wire);
    const running = client.call("one__wait");
    const begun = () => expect(box.read("home/began")).toBe("");
    await vi.waitFor(begun, { timeout: 60_000 });
    child.kill("SIGTERM");
    await logs("Stopping when 1 call has ended, in 10 s at most.");
    await expect(fetch(url, { method: "POST", body: "{}" })).rejects.toThrow("fetch failed");
    box.write("home/done", "");
    expect(await client.result(running)).toMatchObject({ content: [{ text: "done" }] });
    expect(await exited).toEqual([0, null]);
    await vi.waitFor(() => expect(server.left()).toBe(0), { timeout: 10_000 });
  });

  it("stops at once at a second signal, and its servers with it", async () => {
    const server = markedServer();
    const box = createSandbox({ [user]: { mcpServers: { one: server.config } } });
    const { child, wire, exited, logs } = await startHttp(box);
    await logs(/one +connected/);
    const client = await openClient("legacy", wire, {
      capabilities: { elicitation: {} },
      answer: () => new Promise(() => undefined),
    });
    client.call("one__elicit", { message: "Who?" }).answer.catch(() => undefined);
    await client.sees("the question", ({ kind }) => kind === "question");
    child.kill("SIGINT");
    await logs("Stopping when 1 call");
    child.kill("SIGINT");
    expect(await exited).toEqual([130, null]);
    await vi.waitFor(() => expect(server.left()).toBe(0), { timeout: 10_000 });
  });

  it.each(["SIGTERM", "the end of its input"])("ends cleanly over stdio with %s", async (how) => {
    const server = markedServer();
    const box = createSandbox({ [user]: { mcpServers: { one: server.config } } });
    const { child, said, exited, logs } = start(box, ["--stdio"]);
    const client = await openClient("legacy", new StdioWire(child.stdin, child.stdout));
    child.stdout.on("data", (text: string) => (said.out += text));
    await logs(/one +connected/);
    await client.result(client.call("one__echo", { text: "hi" }));
    if (how === "SIGTERM") child.kill("SIGTERM");
    else child.stdin.end();
    expect(await exited).toEqual([0, null]);
    await vi.waitFor(() => expect(server.left()).toBe(0), { timeout: 10_000 });
    for (const line of said.out.trim().split("\n"))
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  });
});

/** The lines of a client that calls a tool and says nothing more. */
const callAndLeave = [
  {
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } },
  },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/call", params: { name: "one__wait", arguments: {} } },
]
  .map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  .join("");

describe("M80 serve --stdio after the end of its input", () => {
  function waiting() {
    const box = createSandbox();
    const args = [waitingServer, box.path("home/done"), box.path("home/began")];
    const server = markedServer({ command: process.execPath, args });
    box.write(user, { mcpServers: { one: server.config } });
    const begun = () =>
      vi.waitFor(() => expect(box.read("home/began")).toBe(""), { timeout: 60_000, interval: 50 });
    return { box, server, begun };
  }

  it("answers the calls that it has read, as in `printf … | plugboard serve --stdio`", async () => {
    const { box, server, begun } = waiting();
    const { child, said, exited } = start(box, ["--stdio"]);
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text));
    const closed = once(child, "close");
    child.stdin.end(callAndLeave);
    await begun();
    box.write("home/done", "");
    expect(await exited).toEqual([0, null]);
    await closed;
    const answers = said.out.trim().split("\n");
    expect(answers.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({
        id: 2,
        result: expect.objectContaining({ content: [{ type: "text", text: "done" }] }),
      }),
    );
    await vi.waitFor(() => expect(server.left()).toBe(0), { timeout: 10_000 });
  });

  it("leaves nothing behind if its client was killed in the middle of a call", async () => {
    const { box, server, begun } = waiting();
    const code = `require("node:child_process").spawn(process.execPath, [process.argv[1], "serve", "--stdio"], { stdio: ["pipe", "pipe", "inherit"] }).stdin.write(process.argv[2])`;
    const options = { cwd: box.project, env: box.env, stdio: "ignore" as const };
    const client = spawn(process.execPath, ["-e", code, commandLine, callAndLeave], options);
    onTestFinished(() => void client.kill("SIGKILL"));
    await begun();
    expect(server.left()).toBeGreaterThan(0);
    client.kill("SIGKILL");
    await vi.waitFor(() => expect(server.left()).toBe(0), { timeout: 60_000 });
  });
});

describe("M80 a Plugboard that would start itself", () => {
  it("is noticed behind a script that nobody can look into", async () => {
    const box = createSandbox();
    const script = box.write(
      "home/tools.sh",
      `#!/bin/sh\nexec ${process.execPath} ${commandLine} serve --stdio\n`,
    );
    chmodSync(script, 0o755);
    box.write(user, { mcpServers: { wrapped: { command: script }, good: fakeStdio() } });
    const { logs, said, child, exited } = await startHttp(box);
    await logs(/wrapped +(failed|waiting).*already in use by the Plugboard that started this one/);
    await logs(/good +connected/);
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    expect(said.err).not.toMatch(/wrapped +connected/);
  });

  it("is noticed in a second file that leads back to the first, and the rest of that file works", async () => {
    const box = createSandbox();
    const serve = (file: string) => ({
      command: process.execPath,
      args: [commandLine, "serve", "--stdio", "--config", box.path(file)],
    });
    const first = box.write("home/one.json", { mcpServers: { two: serve("home/two.json") } });
    box.write("home/two.json", { mcpServers: { back: serve("home/one.json"), good: fakeStdio() } });
    const { wire, logs } = await startHttp(box, ["--config", first]);
    await logs(/two +connected/);
    const client = await openClient("modern", wire);
    await vi.waitFor(
      async () => {
        const { tools } = (await client.result(client.request("tools/list"))) as {
          tools: { name: string }[];
        };
        const names = tools.map(({ name }) => name);
        expect(names.some((name) => name.startsWith("two__good_echo"))).toBe(true);
        expect(names.filter((name) => name.includes("back"))).toEqual([]);
      },
      { timeout: 60_000, interval: 100 },
    );
  });

  it("is noticed at its own address, before anything is sent there", async () => {
    const box = createSandbox();
    const { url, child, exited, logs } = await startHttp(box);
    box.write(user, { mcpServers: { self: { url }, good: fakeStdio() } });
    await logs(/self +loop +it leads back to this Plugboard: its URL is this gateway's/);
    await logs(/good +connected/);
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  });
});

describe("M55 a task behind plugboard serve", () => {
  it.each([
    ["the extension", "modern"],
    ["2025-11-25", "legacy"],
  ] as const)("of %s on an HTTP server survives a restart of gateway and client", async (_, versions) => {
    const server = await startFakeHttp({ versions, tasks: {} });
    onTestFinished(() => server.close());
    const box = createSandbox({ [user]: { mcpServers: { far: { url: server.url } } } });
    const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
    const first = await startHttp(box);
    const before = await openClient("modern", first.wire, { capabilities });
    const { taskId, resultType } = await before.result(before.call("far__hold", { label: "long" }));
    expect(resultType).toBe("task");
    first.child.kill("SIGKILL");
    await first.exited;
    const second = await startHttp(box);
    const after = await openClient("modern", second.wire, { capabilities });
    const get = () => after.result(after.once("tasks/get", { taskId }));
    expect(await get()).toMatchObject({ taskId, status: "working" });
    await after.result(after.call("far__finish", { label: "long" }));
    await vi.waitFor(async () => expect(await get()).toMatchObject({ status: "completed" }), {
      timeout: 30_000,
      interval: 100,
    });
    expect(await get()).toMatchObject({ result: { content: [{ type: "text", text: "held long" }] } });
    const calls = server.received.filter(({ body }) => body.includes('"name":"hold"'));
    expect(calls).toHaveLength(1);
  });
});
