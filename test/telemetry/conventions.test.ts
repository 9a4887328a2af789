import { SpanStatusCode } from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { openTelemetry } from "../../src/telemetry/index.ts";
import type { TelemetryOptions } from "../../src/telemetry/index.ts";
import { openScene, type SceneOptions } from "../gateway/bridge/scene.ts";
import type { UpstreamKind } from "../gateway/upstreams.ts";
import { openRecorder } from "./recorder.ts";

const boundaries = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** A gateway that is watched, and what it is seen to do. */
async function openWatched(
  kinds: readonly UpstreamKind[],
  options: TelemetryOptions = {},
  { entry }: Pick<SceneOptions, "entry"> = {},
) {
  const recorder = openRecorder();
  const telemetry = await openTelemetry(options);
  const scene = await openScene(kinds, {
    hub: { telemetry },
    gateway: { telemetry },
    ...(entry && { entry }),
  });
  return {
    scene,
    ...recorder,
    async [Symbol.asyncDispose]() {
      await scene.close();
      await recorder[Symbol.asyncDispose]();
    },
  };
}

describe("M65 what spans say about failures", () => {
  it("a result with isError is a tool_error on both sides", async () => {
    await using watched = await openWatched(["modern-http"]);
    const client = await watched.scene.client("legacy-http");
    await client.result(client.call("modern-http__fail"));
    for (const [kind, name] of [
      ["SERVER", "tools/call modern-http__fail"],
      ["CLIENT", "tools/call fail"],
    ] as const) {
      const { attributes, status } = watched.span(kind, name);
      expect(attributes["error.type"]).toBe("tool_error");
      expect(attributes).not.toHaveProperty("rpc.response.status_code");
      expect(status.code).toBe(SpanStatusCode.ERROR);
    }
  });

  it("an error of the protocol has its code and message", async () => {
    await using watched = await openWatched(["legacy-stdio"]);
    const client = await watched.scene.client("modern-http");
    const params = { uri: "fake://legacy-stdio/nothing" };
    const { error } = await client.request("resources/read", params).answer;
    const { attributes, status } = watched.span("CLIENT", "resources/read");
    expect(attributes["error.type"]).toBe(String(error?.code));
    expect(attributes["rpc.response.status_code"]).toBe(String(error?.code));
    expect(status).toEqual({ code: SpanStatusCode.ERROR, message: expect.stringContaining("fake://") });
  });

  it("a request without an answer has Plugboard's own code", async () => {
    await using watched = await openWatched(["legacy-stdio"]);
    const call = watched.scene.hub.callTool("legacy-stdio.sleep", { ms: 60_000 }, { timeoutMs: 50 });
    await expect(call).rejects.toMatchObject({ code: "call-timeout" });
    const { attributes, status } = watched.span("CLIENT", "tools/call sleep");
    expect(attributes["error.type"]).toBe("call-timeout");
    expect(status.code).toBe(SpanStatusCode.ERROR);
  });

  it("a success has neither", async () => {
    await using watched = await openWatched(["legacy-stdio"]);
    await watched.scene.hub.callTool("legacy-stdio.echo");
    const { attributes, status } = watched.span("CLIENT", "tools/call echo");
    expect(attributes).not.toHaveProperty("error.type");
    expect(status).toEqual({ code: SpanStatusCode.UNSET });
  });
});

describe("M65 which requests have spans", () => {
  it("the handshake with a server of either era and of a legacy client, and every list", async () => {
    await using watched = await openWatched(["legacy-stdio", "modern-stdio"]);
    await watched.scene.client("legacy-http");
    const { attributes } = watched.span("CLIENT", "initialize");
    expect(attributes).toMatchObject({
      "mcp.method.name": "initialize",
      "mcp.protocol.version": "2025-11-25",
    });
    expect(watched.span("SERVER", "initialize").attributes).toHaveProperty(["mcp.session.id"]);
    const names = watched.spans().map(({ name }) => name);
    expect(names).toContain("server/discover");
    expect(names).toContain("tools/list");
    expect(names).toContain("resources/templates/list");
    expect(names).not.toContain("subscriptions/listen");
  });
});

describe("M65 metrics", () => {
  it("have the names, units, boundaries and attributes of the conventions", async () => {
    await using watched = await openWatched(["legacy-http"]);
    const client = await watched.scene.client("legacy-http");
    await client.result(client.call("legacy-http__echo"));
    await client.result(client.call("legacy-http__fail"));
    await client.close();
    await watched.scene.hub.disconnect("legacy-http");
    const histograms = await watched.histograms();
    expect(histograms.map(({ name }) => name).toSorted()).toEqual([
      "mcp.client.operation.duration",
      "mcp.client.session.duration",
      "mcp.server.operation.duration",
      "mcp.server.session.duration",
    ]);
    for (const one of histograms) expect(one).toMatchObject({ unit: "s", boundaries });
    const points = (name: string) => histograms.find((one) => one.name === name)?.points ?? [];
    const wire = { "network.transport": "tcp", "network.protocol.name": "http" };
    const ours = { "mcp.protocol.version": "2025-11-25", ...wire };
    const theirs = { ...ours, "server.address": "127.0.0.1", "server.port": expect.any(Number) };
    const call = { "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool" };
    expect(points("mcp.server.operation.duration")).toContainEqual({
      attributes: { ...call, ...ours, "gen_ai.tool.name": "legacy-http__echo" },
      count: 1,
    });
    expect(points("mcp.client.operation.duration")).toContainEqual({
      attributes: { ...call, ...theirs, "gen_ai.tool.name": "fail", "error.type": "tool_error" },
      count: 1,
    });
    expect(points("mcp.server.session.duration")).toEqual([{ attributes: ours, count: 1 }]);
    expect(points("mcp.client.session.duration")).toEqual([{ attributes: theirs, count: 1 }]);
  });

  it("have no series for what clients make up", async () => {
    await using watched = await openWatched(["legacy-http"]);
    const client = await watched.scene.client("modern-http");
    for (const made of ["a", "b", "c"]) {
      expect(await client.call(`made-up-${made}`).answer).toHaveProperty("error");
      expect(await client.request(`made-up/${made}`).answer).toHaveProperty("error");
    }
    const histograms = await watched.histograms();
    const served = histograms.find(({ name }) => name === "mcp.server.operation.duration");
    expect(JSON.stringify(served)).not.toContain("made-up");
  });
});

describe("M65 what servers and programs do wrong", () => {
  const peer = { transport: "memory" as const, version: undefined, sessionId: undefined };
  const request = (method: string) => ({ id: 1, method, params: {}, peer, server: "it", shown: String });

  it("an error code that a server made up becomes no series", async () => {
    await using watched = await openWatched([]);
    const telemetry = await openTelemetry();
    for (const code of [-31_001, -31_002, -32_603]) {
      const { answered } = telemetry.sent(request(`made-up/${code}`));
      answered({ error: { code, message: "no" } });
      expect(watched.span("CLIENT", `made-up/${code}`).attributes["error.type"]).toBe(String(code));
    }
    const histograms = await watched.histograms();
    const sent = histograms.find(({ name }) => name === "mcp.client.operation.duration");
    const types = sent?.points.map(({ attributes }) => attributes["error.type"]);
    expect(types).toEqual(["_OTHER", "-32603"]);
    expect(JSON.stringify(sent)).not.toContain("made-up");
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("broken");
      },
    ],
    ["is asynchronous", (async () => Promise.reject(new Error("broken"))) as never],
  ])("a server is not told the trace if `propagate` %s, and the span is there", async (_, propagate) => {
    await using watched = await openWatched([]);
    const telemetry = await openTelemetry({ propagate });
    const { meta, answered } = telemetry.sent(request("ping"));
    answered({ result: {} });
    expect(meta).toBeUndefined();
    expect(watched.span("CLIENT", "ping").attributes["plugboard.server"]).toBe("it");
  });
});

describe("M65 arguments and results", () => {
  const key = "sk-a-key-that-nobody-may-see";
  const entry = { env: { API_KEY: key } };
  const args = { text: `my key is ${key}`, password: "hunter2", long: "x".repeat(100_000) };
  const names = ["gen_ai.tool.call.arguments", "gen_ai.tool.call.result"] as const;

  it("are not recorded unless somebody asks", async () => {
    await using watched = await openWatched(["legacy-stdio"], {}, { entry });
    await watched.scene.hub.callTool("legacy-stdio.echo", args);
    const { attributes } = watched.span("CLIENT", "tools/call echo");
    for (const name of names) expect(attributes).not.toHaveProperty([name]);
  });

  it("are recorded without secrets, and cut", async () => {
    await using watched = await openWatched(["legacy-stdio"], { arguments: true, results: true }, { entry });
    const client = await watched.scene.client("modern-http");
    await client.result(client.call("legacy-stdio__echo", args));
    const { attributes } = watched.span("CLIENT", "tools/call echo");
    const shown = JSON.parse(String(attributes["gen_ai.tool.call.arguments"])) as Record<string, string>;
    expect(shown["text"]).toBe("my key is (hidden)");
    expect(shown["password"]).toBe("(hidden)");
    expect(shown["long"]).toMatch(/^x{4000,}… \(100000 characters\)$/);
    const texts = names.map((name) => String(attributes[name]));
    for (const text of texts) {
      expect(text.length).toBeLessThan(6_000);
      expect(text).not.toContain(key);
    }
    expect(texts[1]).toContain("bytes");
    await watched.scene.hub.callTool("legacy-stdio.echo", { text: key });
    const [, last] = watched.spans().filter(({ name }) => name === "tools/call echo");
    expect(last?.attributes["gen_ai.tool.call.result"]).toContain("(hidden)");
  });

  it.each([
    ["https://me:secret@host/file?token=secret&page=2", "https://host/file?token=(hidden)&page=2"],
    ["https://secret@host/file", "https://host/file"],
    ["https://host/file#access_token=secret", "https://host/file"],
    [`https://me:secret@host/file?a=secret&b=${"x".repeat(2_000)}`, "https://host/file"],
    ["db:x?q=1&api%5Fkey=secret", "db:x?q=1&api%5Fkey=(hidden)"],
    ["fake://a/b?page=2", "fake://a/b?page=2"],
  ])("a resource's URI is recorded without its credentials: %s", async (uri, shown) => {
    await using watched = await openWatched(["legacy-stdio"]);
    await watched.scene.hub.readResource("legacy-stdio", uri).catch(() => undefined);
    expect(watched.span("CLIENT", "resources/read").attributes["mcp.resource.uri"]).toBe(shown);
    const client = await watched.scene.client("modern-http");
    await client.request("resources/read", { uri }).answer;
    const { status } = watched.span("SERVER", "resources/read");
    expect(status.message).not.toContain("secret");
  });
});
