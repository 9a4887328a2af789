import { context, metrics, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Telemetry } from "../../src/index.ts";
import type * as Telemetries from "../../src/telemetry/index.ts";

/** Spans of every request and metrics, in batches as a program exports them, to an exporter that drops them. */
export async function openRecording(module: string): Promise<Telemetry> {
  const drop = {
    export: (_batch: unknown, done: (result: { code: 0 }) => void) => done({ code: 0 }),
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
    selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE,
  };
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter: drop })] }),
  );
  const reader = new PeriodicExportingMetricReader({ exporter: drop, exportIntervalMillis: 10_000 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  const { openTelemetry } = (await import(module)) as typeof Telemetries;
  return openTelemetry();
}
