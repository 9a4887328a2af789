import { describe, expect, onTestFinished, test } from "vitest";
import type { RpcRequest } from "../../src/servers/rpc/messages.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { Recorder, subjects } from "./contract-fixture.ts";
import { failure, openRpc, type Params, until } from "./rpc-fixture.ts";

const legacy: Script = { versions: ["2025-06-18"] };
const clientInfo = { name: "test", version: "1" };

function request(id: string, method: string, params: Params = {}): RpcRequest {
  return { jsonrpc: "2.0", id, method, params };
}

function callOf(id: string, name: string, args: Params = {}): RpcRequest {
  return request(id, "tools/call", { name, arguments: args, _meta: { progressToken: id } });
}

function echoing(...steps: NonNullable<Script["on"]>[number]["do"]): Script {
  return { ...legacy, on: [{ when: { tool: "echo" }, do: steps }] };
}

describe.each(subjects)("M20 the transport contract: %s", (kind, openSubject) => {
  async function open(script: Script = legacy) {
    const subject = await openSubject(script);
    const { transport } = subject;
    onTestFinished(() => transport.close());
    const heard = new Recorder();
    await transport.start(heard);
    const send = async (message: Parameters<typeof transport.send>[0]) =>
      transport.send(message, JSON.stringify(message));
    const version = "2025-06-18";
    await send(request("p0", "initialize", { protocolVersion: version, capabilities: {}, clientInfo }));
    await until(() => heard.answerTo("p0") !== undefined);
    transport.setVersion?.(version);
    await send({ jsonrpc: "2.0", method: "notifications/initialized", params: {} });
    return { ...subject, heard, send };
  }
  const sentMethods = (received: Params[]) => received.map(({ method }) => method);

  test("has a kind, and facts that are safe to print", async () => {
    const { transport } = await open();
    expect(transport.kind).toBe(kind);
    expect(JSON.parse(JSON.stringify(transport.facts))).toEqual(transport.facts);
  });

  test("a request gets its answer, once and complete", async () => {
    const { heard, send } = await open();
    await send(callOf("p1", "echo", { text: "ü€😀\u2028" }));
    await until(() => heard.answerTo("p1") !== undefined);
    expect(heard.answerTo("p1")).toMatchObject({
      jsonrpc: "2.0",
      result: { structuredContent: { text: "ü€😀\u2028" } },
    });
    expect(heard.messages.filter(({ message }) => message["id"] === "p1")).toHaveLength(1);
    expect([heard.failures, heard.ends]).toEqual([[], []]);
  });

  test("a message is sent as the given text", async () => {
    const { heard, transport, received } = await open();
    const message = callOf("p1", "echo", { text: "said" });
    await transport.send(message, JSON.stringify({ ...message, extra: 1 }));
    await until(() => heard.answerTo("p1") !== undefined);
    expect(received().at(-1)).toMatchObject({ id: "p1", extra: 1 });
  });

  test("an error from the server is an answer", async () => {
    const error = { code: -32_050, message: "no", data: { why: [1] } };
    const { heard, send } = await open(echoing({ error }));
    await send(callOf("p1", "echo"));
    await until(() => heard.answerTo("p1") !== undefined);
    expect(heard.answerTo("p1")).toMatchObject({ error });
  });

  test("an answer without a request is passed on and affects nothing else", async () => {
    const stray = { jsonrpc: "2.0", id: "p999", result: {} };
    const { heard, send } = await open(echoing({ message: stray }, { default: true }));
    await send(callOf("p1", "echo"));
    await until(() => heard.answerTo("p1") !== undefined);
    expect(heard.answerTo("p999")).toEqual(stray);
    expect(heard.failures).toEqual([]);
  });

  test("a server message during a request has the request's id if it is known", async () => {
    const { heard, send } = await open(echoing({ progress: 2 }, { default: true }));
    await send(callOf("p1", "echo"));
    await until(() => heard.answerTo("p1") !== undefined);
    const said = heard.messages.filter(({ message }) => message["method"] === "notifications/progress");
    const expected = kind === "http" ? "p1" : undefined;
    expect(said.map(({ during }) => during)).toEqual([expected, expected]);
  });

  test("a server request arrives, and our answer reaches the server", async () => {
    const { heard, send } = await open();
    await send(callOf("p1", "roots"));
    const question = () => heard.messages.find(({ message }) => message["method"] === "roots/list")?.message;
    await until(() => question() !== undefined);
    await send({ jsonrpc: "2.0", id: question()?.["id"] as string, result: { roots: [] } });
    await until(() => heard.answerTo("p1") !== undefined);
    expect(heard.answerTo("p1")).toMatchObject({ result: { structuredContent: { roots: [] } } });
  });

  test("our notification reaches the server", async () => {
    const { send, received } = await open();
    await send({ jsonrpc: "2.0", method: "notifications/roots/list_changed", params: {} });
    await until(() => sentMethods(received()).includes("notifications/roots/list_changed"));
  });

  test("cancelling with a reason notifies the server, and other requests continue", async () => {
    const { transport, heard, send, received } = await open();
    await send(callOf("p1", "sleep", { ms: 60_000 }));
    await until(() => sentMethods(received()).includes("tools/call"));
    transport.cancel("p1", "no longer wanted");
    const told = () => received().find(({ method }) => method === "notifications/cancelled");
    await until(() => told() !== undefined);
    expect(told()?.["params"]).toEqual({ requestId: "p1", reason: "no longer wanted" });
    await send(callOf("p2", "echo"));
    await until(() => heard.answerTo("p2") !== undefined);
    expect(heard.failures).toEqual([]);
  });

  test("cancelling without a reason sends nothing", async () => {
    const { transport, heard, send, received } = await open();
    await send(callOf("p1", "sleep", { ms: 60_000 }));
    await until(() => sentMethods(received()).includes("tools/call"));
    transport.cancel("p1");
    transport.cancel("p77");
    await send(callOf("p2", "echo"));
    await until(() => heard.answerTo("p2") !== undefined);
    expect(sentMethods(received())).not.toContain("notifications/cancelled");
    expect(heard.failures).toEqual([]);
  });

  test("closing is reported once, however often it is called", async () => {
    const { transport, heard } = await open();
    await Promise.all([transport.close(), transport.close()]);
    await transport.close();
    expect(heard.ends).toMatchObject([
      { name: "PlugboardError", code: "connection-lost", server: "subject" },
    ]);
  });

  test("the end of the server is reported once; over HTTP there is no connection to lose", async () => {
    const { transport, heard, die } = await open();
    await die();
    if (kind !== "http") await until(() => heard.ends.length > 0);
    await transport.close();
    expect(heard.ends).toHaveLength(1);
    expect(heard.ends[0]?.code).toBe(kind === "stdio" ? "server-exited" : "connection-lost");
  });

  test("sending after the end fails, and the error says that nothing was executed", async () => {
    const { transport, send, received } = await open();
    await transport.close();
    const before = received().length;
    expect(await failure(send(callOf("p1", "echo")))).toMatchObject({
      code: "connection-lost",
      executed: "no",
    });
    transport.cancel("p1");
    expect(received()).toHaveLength(before);
  });

  test("many concurrent requests get their own answers", async () => {
    const { heard, send } = await open();
    const ids = Array.from({ length: 200 }, (_, n) => `p${n + 1}`);
    await Promise.all(ids.map((id) => send(callOf(id, "echo", { id }))));
    await until(() => ids.every((id) => heard.answerTo(id) !== undefined));
    for (const id of ids) expect(heard.answerTo(id)).toMatchObject({ result: { structuredContent: { id } } });
  });

  test("large messages work in both directions", async () => {
    const text = "x€".repeat(500_000);
    const { heard, send } = await open();
    await send(callOf("p1", "echo", { text }));
    await until(() => heard.answerTo("p1") !== undefined);
    expect(heard.answerTo("p1")).toMatchObject({ result: { structuredContent: { text } } });
  });

  test("a message that cannot be serialized is the caller's error, reported once", async () => {
    const { transport } = await openSubject(legacy);
    const { call, rpc } = await openRpc(transport, { era: "legacy" });
    const unwritable = {
      toJSON() {
        throw new TypeError("no");
      },
    };
    expect(await failure(call("echo", { unwritable }))).toMatchObject({
      code: "usage-invalid",
      executed: "no",
    });
    expect(await call("echo", { n: 1 })).toMatchObject({ result: { structuredContent: { n: 1 } } });
    expect(rpc.requests.inFlight).toBe(0);
  });

  test("bytes are offered before they are parsed, and not parsed if taken; within the process there are none", async () => {
    const { heard, send } = await open();
    heard.takesText = '"taken"';
    await send(callOf("p1", "echo", { mark: "taken" }));
    if (kind === "memory") {
      await until(() => heard.answerTo("p1") !== undefined);
      return expect(heard.offered).toEqual([]);
    }
    await until(() => heard.offered.some((text) => text.includes('"taken"')));
    await send(callOf("p2", "echo", { mark: "left" }));
    await until(() => heard.answerTo("p2") !== undefined);
    expect(heard.answerTo("p1")).toBeUndefined();
    expect(heard.offered.filter((text) => text.includes('"p2"'))).toHaveLength(1);
    expect(heard.failures).toEqual([]);
  });
});
