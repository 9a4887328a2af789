/**
 * Records one trace with OpenTelemetry: from an agent through a gateway to a server.
 * In your own program, register your exporter.
 * Run: node examples/telemetry.ts
 */
import assert from "node:assert/strict";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { createGateway } from "plugboard/gateway";
import { createHub } from "plugboard";
import { openTelemetry } from "plugboard/telemetry";
import { fakeStdio } from "plugboard/testing";

const exporter = new InMemorySpanExporter();
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }),
);
const telemetry = await openTelemetry({ arguments: true });

// A server, a gateway before it, and an agent that uses the gateway.
const behind = await createHub({ servers: { notes: fakeStdio() } }, { telemetry });
const gateway = createGateway(behind, { auth: "none", telemetry });
const { url } = await gateway.listen();
const agent = await createHub({ servers: { all: { url } } }, { telemetry });
await agent.tools();
exporter.reset();

const turn = trace.getTracer("my agent").startSpan("invoke_agent");
await context.with(trace.setSpan(context.active(), turn), () =>
  agent.callTool("all.notes__echo", { text: "hello" }),
);
turn.end();
await agent.close();
await gateway.close();
await behind.close();

const spans = exporter.getFinishedSpans().filter(({ name }) => /tools\/call|invoke_agent/.test(name));
const path = spans.toReversed();
for (const [depth, { name, attributes }] of path.entries())
  console.log(`${"  ".repeat(depth)}${name} ${JSON.stringify(attributes)}`);
assert.deepEqual(
  path.map(({ name }) => name),
  ["invoke_agent", "tools/call notes__echo", "tools/call notes__echo", "tools/call echo"],
);
for (const [depth, span] of path.entries())
  assert.equal(span.parentSpanContext?.spanId, path[depth - 1]?.spanContext().spanId);
