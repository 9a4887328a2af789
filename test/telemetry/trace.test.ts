import { context, trace } from "@opentelemetry/api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTelemetry } from "../../src/telemetry/index.ts";
import { clientKinds, openScene, type Scene } from "../gateway/bridge/scene.ts";
import { type UpstreamKind, upstreamKinds } from "../gateway/upstreams.ts";
import { openRecorder, traceparentOf } from "./recorder.ts";

const transports = {
  stdio: { "network.transport": "pipe" },
  http: { "network.transport": "tcp", "network.protocol.name": "http" },
  sse: { "network.transport": "tcp", "network.protocol.name": "http" },
  memory: {},
};

/** What the last call of a tool said beside its parameters. */
function metaAt(scene: Scene, server: UpstreamKind): Record<string, unknown> {
  const calls = scene.upstream(server).heard();
  const call = calls.findLast(({ message }) => message.method === "tools/call");
  const meta = (call?.message.params?.["_meta"] ?? {}) as Record<string, unknown>;
  const { progressToken: _token, ...rest } = meta;
  return rest;
}

describe("M65 one trace from an agent's call through the gateway to the server", () => {
  let scene: Scene;
  let recorder: ReturnType<typeof openRecorder>;

  beforeAll(async () => {
    recorder = openRecorder();
    const telemetry = await openTelemetry();
    scene = await openScene(upstreamKinds, { hub: { telemetry }, gateway: { telemetry } });
  });
  afterAll(async () => {
    await scene.close();
    await recorder[Symbol.asyncDispose]();
  });

  const cells = clientKinds.flatMap((client) => upstreamKinds.map((server) => ({ client, server })));
  it.each(cells)("$client client, $server server", async ({ client: kind, server }) => {
    const client = await scene.client(kind);
    recorder.reset();
    const agent = recorder.tracer.startSpan("the agent");
    const { traceId, spanId } = agent.spanContext();
    const asked = {
      name: `${server}__echo`,
      arguments: { text: "hi" },
      _meta: { traceparent: `00-${traceId}-${spanId}-01`, tracestate: "vendor=1" },
    };
    await client.result(client.request("tools/call", asked));
    agent.end();

    const served = recorder.span("SERVER", `tools/call ${server}__echo`);
    const sent = recorder.span("CLIENT", "tools/call echo");
    expect(served.spanContext().traceId).toBe(traceId);
    expect(served.parentSpanContext?.spanId).toBe(spanId);
    expect(sent.spanContext().traceId).toBe(traceId);
    expect(sent.parentSpanContext?.spanId).toBe(served.spanContext().spanId);

    const { traceparent, tracestate } = metaAt(scene, server);
    expect({ traceparent, tracestate }).toEqual({
      traceparent: traceparentOf(sent),
      tracestate: "vendor=1",
    });

    const [clientEra, clientTransport] = kind.split("-") as ["legacy", "http"];
    expect(served.attributes).toEqual({
      "mcp.method.name": "tools/call",
      "gen_ai.tool.name": `${server}__echo`,
      "gen_ai.operation.name": "execute_tool",
      "jsonrpc.request.id": expect.stringMatching(/^\d+$/),
      "mcp.protocol.version": clientEra === "legacy" ? "2025-11-25" : "2026-07-28",
      ...transports[clientTransport],
      ...(kind === "legacy-http" && { "mcp.session.id": expect.any(String) }),
    });
    const [era, transport] = server.split("-") as ["legacy", "http"];
    const isRemote = /http|sse/.test(transport);
    expect(sent.attributes).toEqual({
      "mcp.method.name": "tools/call",
      "gen_ai.tool.name": "echo",
      "gen_ai.operation.name": "execute_tool",
      "jsonrpc.request.id": expect.stringMatching(/^p\d+$/),
      "mcp.protocol.version": era === "legacy" ? "2025-11-25" : "2026-07-28",
      "plugboard.server": server,
      ...transports[transport],
      ...(isRemote && { "server.address": "127.0.0.1", "server.port": expect.any(Number) }),
      ...(server === "legacy-http" && { "mcp.session.id": expect.any(String) }),
    });
  });
});

describe("M65 the trace context of a request", () => {
  const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const echo = (scene: Scene, kind: "legacy-http", meta: object) =>
    scene.client(kind).then(async (client) => {
      const params = { name: "legacy-stdio__echo", arguments: {}, _meta: meta };
      return client.result(client.request("tools/call", params));
    });

  it("passes through the gateway unchanged without telemetry", async () => {
    const scene = await openScene(["legacy-stdio"]);
    try {
      const meta = { traceparent: parent, tracestate: "a=b", baggage: "user=alice" };
      await echo(scene, "legacy-http", meta);
      expect(metaAt(scene, "legacy-stdio")).toEqual(meta);
    } finally {
      await scene.close();
    }
  });

  it("does nothing if it is malformed, huge or not text, and is replaced by our own", async () => {
    await using recorder = openRecorder();
    const telemetry = await openTelemetry();
    const scene = await openScene(["legacy-stdio"], { hub: { telemetry }, gateway: { telemetry } });
    try {
      const zero = "0".repeat(32);
      for (const traceparent of [
        "",
        "nonsense",
        `ff${parent.slice(2)}`,
        `${parent}-more`,
        `00-${zero}-b7ad6b7169203331-01`,
        parent.toUpperCase(),
        "0".repeat(100_000),
        { constructor: 1 },
        7,
      ]) {
        recorder.reset();
        const baggage = `a=${"x".repeat(100_000)}`;
        await echo(scene, "legacy-http", { traceparent, tracestate: "stale=1", baggage });
        const served = recorder.span("SERVER", "tools/call legacy-stdio__echo");
        const sent = recorder.span("CLIENT", "tools/call echo");
        expect(served.parentSpanContext).toBeUndefined();
        expect(sent.parentSpanContext?.spanId).toBe(served.spanContext().spanId);
        expect(metaAt(scene, "legacy-stdio")).toEqual({ traceparent: traceparentOf(sent), baggage });
      }
    } finally {
      await scene.close();
    }
  });

  it("is that of the program that calls, for every request of the hub", async () => {
    await using recorder = openRecorder();
    const telemetry = await openTelemetry();
    const scene = await openScene(["legacy-http", "modern-stdio"], { hub: { telemetry } });
    try {
      for (const server of ["legacy-http", "modern-stdio"] as const) {
        recorder.reset();
        const agent = recorder.tracer.startSpan("the agent");
        await context.with(trace.setSpan(context.active(), agent), async () => {
          await scene.hub.callTool(`${server}.echo`);
          await scene.hub.getPrompt(`${server}.greet`);
          await scene.hub.readResource(server, `fake://${server}/readme`);
        });
        const { spanId } = agent.spanContext();
        const names = ["tools/call echo", "prompts/get greet", "resources/read"];
        for (const name of names)
          expect(recorder.span("CLIENT", name).parentSpanContext?.spanId).toBe(spanId);
        expect(recorder.span("CLIENT", "prompts/get greet").attributes["gen_ai.prompt.name"]).toBe("greet");
        const { attributes } = recorder.span("CLIENT", "resources/read");
        expect(attributes["mcp.resource.uri"]).toBe(`fake://${server}/readme`);
      }
    } finally {
      await scene.close();
    }
  });

  it("reaches only the servers that may know it", async () => {
    await using _recorder = openRecorder();
    const telemetry = await openTelemetry({ propagate: (server) => server !== "legacy-stdio" });
    const scene = await openScene(["legacy-stdio", "modern-http"], { hub: { telemetry } });
    try {
      await scene.hub.callTool("legacy-stdio.echo");
      await scene.hub.callTool("modern-http.echo");
      expect(metaAt(scene, "legacy-stdio")).toEqual({});
      expect(metaAt(scene, "modern-http")).toHaveProperty("traceparent");
    } finally {
      await scene.close();
    }
  });
});
