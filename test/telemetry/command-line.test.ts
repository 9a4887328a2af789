import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startServing } from "../cli/serving.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { runNode } from "../run-command.ts";
import { commandLine } from "../command-line.ts";
import { createSandbox } from "../sandbox.ts";
import { openRecorder } from "./recorder.ts";

const user = "home/.config/plugboard/config.json";
const register = resolve("test/telemetry/programs/register.ts");

/** Keeps what is posted to it. */
async function openCollector() {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => void (body += text));
    request.on("end", () => {
      bodies.push(body);
      response.end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const close = () =>
    new Promise<void>((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  onTestFinished(close);
  const { port } = server.address() as AddressInfo;
  type Span = { name: string; attributes: Record<string, unknown> };
  const spans = () => bodies.flatMap((body) => JSON.parse(body) as Span[]);
  return { url: `http://127.0.0.1:${port}`, spans, close };
}

/** Accepts connections and reads what is sent, but never answers. */
async function openSilentCollector(): Promise<string> {
  const server = createTcpServer((socket) => void socket.on("error", () => undefined).resume());
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("M65 the command line with `node --import`", () => {
  const run = (box: ReturnType<typeof createSandbox>, env: Record<string, string>) =>
    runNode(["--import", register, commandLine, "call", "one.echo", "text=hi"], {
      cwd: box.path("."),
      env: { HOME: box.path("home"), PATH: process.env["PATH"] ?? "", ...env },
    });

  it("exports a command's spans before it ends, without arguments unless the variable says so", async () => {
    const collector = await openCollector();
    const box = createSandbox({ [user]: { mcpServers: { one: fakeStdio() } } });
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    expect(await run(box, env)).toMatchObject({ code: 0, err: "" });
    const [call] = collector.spans().filter(({ name }) => name === "tools/call echo");
    expect(call?.attributes).toMatchObject({ "plugboard.server": "one", "network.transport": "pipe" });
    expect(call?.attributes).not.toHaveProperty(["gen_ai.tool.call.arguments"]);
    await run(box, { ...env, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true" });
    const last = collector.spans().findLast(({ name }) => name === "tools/call echo");
    expect(last?.attributes["gen_ai.tool.call.arguments"]).toBe('{"text":"hi"}');
  });

  it("does its work although the exporter is away, and says so", async () => {
    const collector = await openCollector();
    await collector.close();
    const box = createSandbox({ [user]: { mcpServers: { one: fakeStdio() } } });
    const { code, out, err } = await run(box, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    expect(code).toBe(0);
    expect(out).toContain("hi");
    expect(err).toMatch(/^warning: The last spans and metrics were not exported: .*collector/);
  });

  it("ends although the collector accepts everything and never answers, and says so", async () => {
    const box = createSandbox({ [user]: { mcpServers: { one: fakeStdio() } } });
    const { code, out, err } = await run(box, { OTEL_EXPORTER_OTLP_ENDPOINT: await openSilentCollector() });
    expect(code).toBe(0);
    expect(out).toContain("hi");
    expect(err).toMatch(/^warning: The last spans and metrics were not exported: it took longer than 2 s\./);
  });

  it("ends although an export that began earlier is never answered", async () => {
    const box = createSandbox({ [user]: { mcpServers: { one: fakeStdio() } } });
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: await openSilentCollector(), EXPORT_AT_ONCE: "true" };
    expect(await run(box, env)).toMatchObject({ code: 0, out: expect.stringContaining("hi"), err: "" });
  });
});

describe("M65 plugboard serve", () => {
  it("records with the providers that are registered", async () => {
    await using recorder = openRecorder();
    const box = createSandbox({ [user]: { mcpServers: { one: fakeStdio() } } });
    const serving = await startServing(box);
    const client = await serving.open("modern");
    await client.result(client.call("one__echo"));
    const served = recorder.span("SERVER", "tools/call one__echo");
    const sent = recorder.span("CLIENT", "tools/call echo");
    expect(sent.parentSpanContext?.spanId).toBe(served.spanContext().spanId);
    expect(await serving.stop()).toMatchObject({ code: 0 });
  });

  it("says what to do if an endpoint is set and no provider is registered", async () => {
    const box = createSandbox();
    box.env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = "http://127.0.0.1:4318";
    const serving = await startServing(box);
    await serving.logs(/no OpenTelemetry provider is registered\. Start Plugboard with `node --import FILE`/);
  });

  it("says nothing about telemetry otherwise", async () => {
    const serving = await startServing(createSandbox());
    expect((await serving.stop()).err).not.toMatch(/telemetry/i);
  });
});
