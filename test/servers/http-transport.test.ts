import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { createTransport, fakeHttp, open, openBare, plainHttp } from "./http-fixture.ts";
import { failure, modernMeta, openRpc, result, until } from "./rpc-fixture.ts";

describe.each(["legacy", "modern"] as const)("M20 Streamable HTTP, %s era", (era) => {
  test("50 concurrent calls get their results", async () => {
    const fake = await fakeHttp({ versions: era });
    const { call, rpc } = await open(fake.url, era);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => call("add", { a: n, b: 1 })));
    expect(answers.map((answer) => "result" in answer && answer.result["structuredContent"])).toEqual(
      Array.from({ length: 50 }, (_, n) => ({ sum: n + 1 })),
    );
    expect([rpc.inbound.ignored, rpc.requests.counts.late]).toEqual([0, 0]);
  });

  test("answers in an event stream are read, progress included", async () => {
    const progress: number[] = [];
    const fake = await fakeHttp({
      versions: era,
      responses: "sse",
      on: [{ when: { tool: "echo" }, do: [{ progress: 3 }, { default: true }] }],
    });
    const { call } = await open(fake.url, era);
    const answer = await call("echo", { x: "ü€😀" }, { onProgress: (p) => progress.push(p.progress) });
    expect(answer).toMatchObject({ result: { structuredContent: { x: "ü€😀" } } });
    expect(progress).toHaveLength(3);
  });

  test("the server's own errors arrive unchanged", async () => {
    const error = { code: -32050, message: "no", data: { why: [1, 2] } };
    const fake = await fakeHttp({ versions: era, on: [{ when: { tool: "echo" }, do: [{ error }] }] });
    const { call } = await open(fake.url, era);
    expect(await call("echo")).toEqual({ error });
  });

  test("closing ends every socket and timer, even with pending calls", async () => {
    const fake = await fakeHttp({ versions: era, on: [{ when: { tool: "echo" }, do: [{ silent: true }] }] });
    const { transport, call, closed } = await open(fake.url, era);
    const pending = [call("echo"), call("echo")];
    const outcomes = Promise.all(pending.map(failure));
    await until(
      () => fake.received.filter(({ message }) => message?.["method"] === "tools/call").length === 2,
    );
    await Promise.all([transport.close(), transport.close()]);
    expect((await outcomes).map((error) => error.code)).toEqual(["connection-lost", "connection-lost"]);
    await until(() => fake.connections === 0);
    expect((await closed).code).toBe("connection-lost");
    expect(await failure(call("echo"))).toMatchObject({ code: "connection-lost", executed: "no" });
  });
});

describe("M21 the wire format of each era", () => {
  test("a modern request mirrors method, name and parameters in its headers, encoded where needed", async () => {
    const fake = await fakeHttp({
      versions: "modern",
      tools: [{ name: "Wörter zählen", inputSchema: { type: "object" } }],
    });
    const { call } = await open(fake.url, "modern", {
      paramHeaders: (method, params) => ({
        "mcp-param-region": `${method} ${String(params["name"]).length}`,
      }),
    });
    await call("Wörter zählen");
    const { headers } = fake.received.at(-1)!;
    expect(headers).toMatchObject({
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": `=?base64?${Buffer.from("Wörter zählen").toString("base64")}?=`,
      "mcp-param-region": "tools/call 13",
    });
    expect(headers["mcp-session-id"]).toBeUndefined();
  });

  test("a legacy request carries session and version, and none of the modern headers", async () => {
    const fake = await fakeHttp({ versions: "legacy", sessions: ["s-1"] });
    const { call } = await open(fake.url, "legacy", { paramHeaders: () => ({ "mcp-param-x": "1" }) });
    await call("echo");
    const { headers } = fake.received.at(-1)!;
    expect(headers).toMatchObject({ "mcp-session-id": "s-1", "mcp-protocol-version": "2025-11-25" });
    expect(Object.keys(headers).filter((name) => /^mcp-(method|name|param)/.test(name))).toEqual([]);
  });

  test("closing a legacy connection ends its session on the server", async () => {
    const fake = await fakeHttp({ versions: "legacy" });
    const { transport } = await open(fake.url);
    await transport.close();
    expect(fake.received.at(-1)).toMatchObject({ method: "DELETE" });
    expect(fake.sessions).toEqual([]);
  });

  test("a server that does not answer the session's deletion does not delay closing", async () => {
    const fake = await fakeHttp({
      versions: "legacy",
      on: [{ when: { http: "DELETE" }, do: [{ silent: true }] }],
    });
    const { transport } = await open(fake.url);
    await transport.close();
    await until(() => fake.connections === 0);
  });

  test("a message on the push stream belongs to no call", async () => {
    const fake = await fakeHttp({ versions: "legacy" });
    const { promise: heard, resolve } = Promise.withResolvers<string>();
    await openRpc(createTransport(fake.url), { era: "legacy", otherwise: { onNotification: resolve } });
    await until(() => fake.received.some(({ method }) => method === "GET"));
    const again = setInterval(() => void fake.notify({ method: "notifications/tools/list_changed" }), 20);
    expect(await heard.finally(() => clearInterval(again))).toBe("notifications/tools/list_changed");
  });

  test.each([405, 404, 400, 403])(
    "a server without a push stream (HTTP %d) is not asked again",
    async (status) => {
      const on = [{ when: { http: "GET" as const }, do: [{ http: { status } }] }];
      const fake = await fakeHttp({ versions: "legacy", on });
      const { call } = await open(fake.url);
      expect(await call("echo")).toMatchObject({ result: {} });
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(fake.received.filter(({ method }) => method === "GET")).toHaveLength(1);
    },
  );

  test("a broken push stream is reopened after its last event, when the server says so", async () => {
    const stream = "id: 7\nretry: 10\ndata:\n\n";
    const on = [
      {
        when: { http: "GET" as const, nth: [1, 2] },
        do: [{ http: { contentType: "text/event-stream", body: stream } }],
      },
      { when: { http: "GET" as const, nth: 3 }, do: [{ http: { status: 500 } }] },
    ];
    const fake = await fakeHttp({ versions: "legacy", on });
    const { transport } = await open(fake.url);
    const gets = () => fake.received.filter(({ method }) => method === "GET");
    await until(() => gets().length === 4);
    expect(gets().map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "7", "7", "7"]);
    await transport.close();
    await until(() => fake.connections === 0);
  });

  test("a modern subscription receives changes, and ending it closes the request", async () => {
    const fake = await fakeHttp({ versions: "modern" });
    const { request } = await open(fake.url, "modern");
    const heard: string[] = [];
    const stop = new AbortController();
    const params = { notifications: { toolsListChanged: true }, _meta: modernMeta };
    const onNotification = (method: string) => void heard.push(method);
    const ended = failure(request("subscriptions/listen", params, { signal: stop.signal, onNotification }));
    await until(() => heard.includes("notifications/subscriptions/acknowledged"));
    await fake.notify({ method: "notifications/tools/list_changed" });
    await until(() => heard.includes("notifications/tools/list_changed"));
    stop.abort();
    expect((await ended).code).toBe("call-cancelled");
    expect(fake.received.filter(({ message }) => message?.["method"] === "notifications/cancelled")).toEqual(
      [],
    );
  });

  test("large uncompressed answers arrive complete", async () => {
    const fake = await fakeHttp({ versions: "legacy", responses: "sse" });
    const { call } = await open(fake.url);
    const { content } = await result(call("big", { bytes: 5_000_000 }));
    expect(content).toEqual([{ type: "text", text: "x".repeat(5_000_000) }]);
  });

  test("a legacy server's question during a call belongs to that call, which then continues", async () => {
    const fake = await fakeHttp({ versions: "legacy" });
    const { call } = await open(fake.url);
    const asked = (name: string) =>
      call(
        "elicit",
        {},
        { answeredBy: {}, onQuestion: async () => ({ action: "accept", content: { name } }) },
      );
    const answers = await Promise.all([result(asked("Ada")), result(asked("Grace"))]);
    expect(answers.map(({ structuredContent }) => structuredContent)).toEqual([
      { answers: [{ action: "accept", content: { name: "Ada" } }] },
      { answers: [{ action: "accept", content: { name: "Grace" } }] },
    ]);
  });
});

describe("M20 answers on another stream", () => {
  const answer = (id: unknown, result: unknown) => JSON.stringify({ jsonrpc: "2.0", id, result });

  test("after a 202 the answer comes on the push stream", async () => {
    let push = (_event: string): void => {};
    const opened = Promise.withResolvers<void>();
    const { origin } = await plainHttp((request, response) => {
      if (request.method === "GET") {
        response.writeHead(200, { "content-type": "text/event-stream" }).write(": open\n\n");
        push = (event) => void response.write(event);
        return opened.resolve();
      }
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const message = JSON.parse(body) as { id?: unknown; method: string };
        if (message.method === "initialize") {
          const serverInfo = { name: "x", version: "1" };
          const result = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo };
          return void response.setHeader("content-type", "application/json").end(answer(message.id, result));
        }
        response.writeHead(202).end();
        if (message.method === "tools/call") push(`data: ${answer(message.id, { content: [] })}\n\n`);
      });
    });
    const { call } = await open(`${origin}/mcp`);
    await opened.promise;
    expect(await call("echo")).toEqual({ result: { content: [] } });
  });

  test("a session id that changes later is ignored", async () => {
    const on = [
      {
        when: { tool: "echo", nth: 1 },
        do: [{ headers: { "mcp-session-id": "second" } }, { default: true as const }],
      },
    ];
    const fake = await fakeHttp({ versions: "legacy", sessions: ["first"], on });
    const { call } = await open(fake.url);
    await call("echo");
    await call("echo");
    const ids = fake.received.filter(({ message }) => message?.["method"] === "tools/call");
    expect(ids.map(({ headers }) => headers["mcp-session-id"])).toEqual(["first", "first"]);
  });

  test("a connected and closed transport does not keep its process alive", async () => {
    const fake = await fakeHttp({ versions: "legacy" });
    const file = new URL("../../src/servers/transports/http/transport.ts", import.meta.url).href;
    const program = `
      import { HttpTransport } from ${JSON.stringify(file)};
      const transport = new HttpTransport({ server: "remote", url: new URL(${JSON.stringify(fake.url)}) });
      const answers = new Map();
      await transport.start({
        takes: () => false,
        message: (message) => answers.get(message.id)?.(message.result),
        failed() {},
        closed() {},
      });
      const ask = (id, method, params) => new Promise((resolve) => {
        answers.set(id, resolve);
        transport.send({ jsonrpc: "2.0", id, method, params });
      });
      const clientInfo = { name: "test", version: "1" };
      await ask("p1", "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
      transport.setVersion("2025-11-25");
      await transport.send({ jsonrpc: "2.0", method: "notifications/initialized", params: {} });
      await ask("p2", "tools/call", { name: "echo", arguments: {} });
      void ask("p3", "tools/call", { name: "sleep", arguments: { ms: 60_000 } });
      await transport.close();`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "inherit" });
    const [code] = (await once(child, "exit")) as [number];
    expect(code).toBe(0);
  });
});

describe("M26 cancellation reaches the server", () => {
  test("legacy: by a notification", async () => {
    const fake = await fakeHttp({ versions: "legacy" });
    const { call } = await open(fake.url);
    const controller = new AbortController();
    const pending = failure(call("sleep", { ms: 60_000 }, { signal: controller.signal }));
    await until(() => fake.received.some(({ message }) => message?.["method"] === "tools/call"));
    controller.abort();
    expect((await pending).code).toBe("call-cancelled");
    await until(() => fake.received.some(({ message }) => message?.["method"] === "notifications/cancelled"));
    const cancelled = fake.received.find(({ message }) => message?.["method"] === "notifications/cancelled");
    const call1 = fake.received.find(({ message }) => message?.["method"] === "tools/call");
    expect(cancelled?.message?.["params"]).toMatchObject({ requestId: call1?.message?.["id"] });
  });

  test("modern: by closing the request, without a message", async () => {
    const requests: string[] = [];
    const arrived = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const { origin } = await plainHttp((request, response) => {
      requests.push(request.method ?? "");
      response.on("close", () => left.resolve());
      arrived.resolve();
    });
    const { request: ask } = await openBare(`${origin}/mcp`);
    const controller = new AbortController();
    const pending = failure(ask("tools/call", { _meta: modernMeta }, { signal: controller.signal }));
    await arrived.promise;
    controller.abort();
    expect((await pending).code).toBe("call-cancelled");
    await left.promise;
    expect(requests).toEqual(["POST"]);
  });

  test("a call that is never answered times out and frees its socket, and other calls continue", async () => {
    const fake = await fakeHttp({
      versions: "legacy",
      on: [{ when: { tool: "fail" }, do: [{ silent: true }] }],
    });
    const { call } = await open(fake.url);
    const error = await failure(call("fail", {}, { timeoutMs: 50 }));
    expect(error.code).toBe("call-timeout");
    expect(await call("echo", { a: 1 })).toMatchObject({ result: { structuredContent: { a: 1 } } });
  });
});
