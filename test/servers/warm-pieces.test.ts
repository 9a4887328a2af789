import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { readFileSync } from "node:fs";
import type { AddressInfo, Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { attach } from "../../src/servers/warm/attached-process.ts";
import { Broker } from "../../src/servers/warm/broker.ts";
import { FrameReader, sendBytes, sendJson } from "../../src/servers/warm/frames.ts";
import { surroundings } from "../../src/servers/warm/surroundings.ts";
import { UseRecord } from "../../src/servers/warm/use-record.ts";
import { isAlive, programPath, stdioFixture, until } from "./stdio-fixture.ts";

const stdio = stdioFixture();

/** A broker on a socket of this machine, and commands that connect to it. */
async function startBroker(limits: { maxProcesses?: number; maxPerServer?: number } = {}) {
  const ends = { idle: 0, drained: 0 };
  const broker = new Broker({
    processes: stdio.tree(),
    onIdle: () => ends.idle++,
    onDrain: () => ends.drained++,
    limits: { lingerMs: 10, ...limits },
  });
  stdio.later(() => broker.close());
  const server = createServer((socket) => broker.serve(socket)).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const open = async (): Promise<Socket> => {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined);
    await once(socket, "connect");
    return socket;
  };
  const use = async (
    key: string,
    changes: { umask?: number; surroundings?: string; command?: string } = {},
  ) => {
    const { umask = 0o022, surroundings: around = surroundings(), command = process.execPath } = changes;
    const program = { server: "good", command, umask, args: [programPath("good.mjs")] };
    const where = { cwd: "/", env: { PATH: process.env["PATH"] ?? "" } };
    const request = { type: "attach", key, keepMs: 60_000, program: { ...program, ...where } } as const;
    return attach(await open(), { ...request, surroundings: around, secrets: [] });
  };
  return { open, use, ends };
}

const session = { greeting: { era: "legacy" }, issued: 3, fence: { method: "ping", params: {} } };

describe("M45 the broker of warm servers", () => {
  it("gives a process that was given back to the next command with the same key only", async () => {
    const { use } = await startBroker();
    const first = await use("one");
    await first?.giveBack(session, () => true);
    const other = await use("other");
    const again = await use("one");
    expect(again).toMatchObject({ pid: first?.pid, kept: session });
    expect(other?.pid).not.toBe(first?.pid);
    expect(other?.kept).toBeUndefined();
  });

  it("starts a process with the umask of its command, and keeps its own", async () => {
    const { use } = await startBroker();
    const own = process.umask();
    const started = await use("one", { umask: 0o027 });
    expect(readFileSync(`/proc/${started?.pid}/status`, "utf8")).toMatch(/^Umask:\s*0027$/m);
    expect(process.umask()).toBe(own);
  });

  it("gives nothing to a command with other namespaces, limits or niceness", async () => {
    const { use } = await startBroker();
    expect(surroundings()).toMatch(/net:\[\d+\].*files \d+ nice -?\d+/);
    expect(await use("one", { surroundings: `${surroundings()}9` })).toBeUndefined();
  });

  it("leaves the connection when a program cannot be started", async () => {
    const { use, ends } = await startBroker();
    await expect(use("one", { command: "no-such-program-of-ours" })).rejects.toMatchObject({
      code: "spawn-failed",
    });
    await until(() => ends.idle > 0, "the broker has no connection left");
  });

  it("ends a process that is given back in the middle of something", async () => {
    const { use } = await startBroker();
    const process = await use("one");
    await process?.giveBack(session, () => false);
    await process?.stop();
    expect(isAlive(process?.pid ?? 0)).toBe(false);
  });

  it("passes on what is large, in both directions", async () => {
    const { use } = await startBroker();
    const attached = await use("one");
    const text = "x".repeat(5_000_000);
    const answer = new Promise<string>((resolve) => {
      let heard = "";
      attached?.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        heard += chunk;
        if (heard.endsWith("\n")) resolve(heard);
      });
    });
    attached?.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "echo", params: { text } })}\n`);
    expect(JSON.parse(await answer)).toMatchObject({ id: 1, result: { text } });
  });

  it("starts no more processes than it may hold, and ends those that wait first", async () => {
    const { use } = await startBroker({ maxProcesses: 2 });
    const [first, second] = [await use("one"), await use("two")];
    expect(await use("three")).toBeUndefined();
    await first?.giveBack(session, () => true);
    const third = await use("three");
    expect(third?.pid).toBeGreaterThan(1);
    await until(() => !isAlive(first?.pid ?? 0), "the one that waited has made room");
    expect(isAlive(second?.pid ?? 0)).toBe(true);
  });

  it("survives whatever connects to it", async () => {
    const { open, use } = await startBroker();
    for (const bytes of [randomBytes(1000), Buffer.alloc(100), Buffer.from([1, 255, 255, 255, 255])]) {
      const socket = await open();
      socket.write(bytes);
      await once(socket.resume(), "close");
    }
    for (const message of [{ type: "attach" }, { type: "nonsense" }, { type: "attach", program: 7 }]) {
      const socket = await open();
      sendJson(socket, message);
      await once(socket.resume(), "close");
    }
    expect((await use("one"))?.pid).toBeGreaterThan(1);
  });

  it("takes no more uses when it is drained, and leaves when the last one ends", async () => {
    const { open, use, ends } = await startBroker();
    const process = await use("one");
    const socket = await open();
    sendJson(socket, { type: "drain" });
    await once(socket.resume(), "close");
    expect(ends.drained).toBe(1);
    expect(await use("two")).toBeUndefined();
    await process?.giveBack(session, () => true);
    await process?.stop();
    await until(() => ends.idle > 0, "the broker is done");
    expect(isAlive(process?.pid ?? 0)).toBe(false);
  });
});

describe("M45 frames", () => {
  it("arrive whole, however they are cut", async () => {
    const sent = randomBytes(700_000);
    const received: Buffer[] = [];
    const wire: Buffer[] = [];
    const socket = { writable: true, cork() {}, uncork() {}, write: (bytes: Buffer) => wire.push(bytes) > 0 };
    sendBytes(socket as unknown as Socket, "stdout", sent);
    const all = Buffer.concat(wire);
    const reader = new FrameReader((_, bytes) => received.push(Buffer.from(bytes)));
    for (let at = 0; at < all.length; at += 997) reader.push(all.subarray(at, at + 997));
    expect(Buffer.concat(received).equals(sent)).toBe(true);
  });
});

describe("M45 a use is clean only if nothing is left of it", () => {
  const call = (id: string, params: object = {}) => ({ id, method: "tools/call", params });
  const cases: [string, (record: UseRecord) => void, boolean][] = [
    ["nothing happened", () => undefined, true],
    ["an answered call", (one) => (one.sent(call("p1")), one.received({ id: "p1", result: {} })), true],
    ["a refused call", (one) => (one.sent(call("p1")), one.received({ id: "p1", error: {} })), true],
    ["a call without an answer", (one) => one.sent(call("p1")), false],
    ["an unanswered probe", (one) => one.sent({ id: "p1", method: "server/discover" }), true],
    ["a log level", (one) => setLevel(one), false],
    ["a question", (one) => one.received({ id: 1, method: "elicitation/create" }), false],
    ["a ping of the server", (one) => one.received({ id: 1, method: "ping" }), true],
    ["a notification", (one) => one.received({ method: "notifications/tools/list_changed" }), true],
    ["a task", (one) => (one.sent(call("p1")), one.received({ id: "p1", result: { task: {} } })), false],
    ["a modern task", (one) => one.received({ id: "p1", result: { resultType: "task" } }), false],
    ["a call as a task", (one) => (one.sent(call("p1", { task: {} })), one.received({ id: "p1" })), false],
    ["a cancelled call", (one) => cancel(one, "tools/call"), false],
    ["a stream that was ended", (one) => cancel(one, "subscriptions/listen"), true],
  ];
  const setLevel = (record: UseRecord) => {
    record.sent({ id: "p1", method: "logging/setLevel" });
    record.received({ id: "p1", result: {} });
  };
  const cancel = (record: UseRecord, method: string) => {
    record.sent({ id: "p1", method });
    record.sent({ method: "notifications/cancelled", params: { requestId: "p1" } });
    record.received({ id: "p1", result: {} });
  };

  it.each(cases)("%s", (_, happen, isClean) => {
    const record = new UseRecord();
    happen(record);
    expect(record.isClean).toBe(isClean);
  });
});
