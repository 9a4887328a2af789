import { SpanKind, context, metrics, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";

export interface Histogram {
  name: string;
  unit: string;
  boundaries: number[];
  points: { attributes: Record<string, unknown>; count: number }[];
}

/** Registers providers as a program would, and keeps what they are told in memory until the end of the block. */
export function openRecorder(processors: SpanProcessor[] = []) {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor({ exporter }), ...processors];
  const tracers = new TracerProvider({ spanProcessors });
  const kept = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: kept, exportIntervalMillis: 3_600_000 });
  const meters = new MeterProvider({ readers: [reader] });
  const manager = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(manager);
  trace.setGlobalTracerProvider(tracers);
  metrics.setGlobalMeterProvider(meters);
  const spans = () => exporter.getFinishedSpans();
  return {
    tracer: trace.getTracer("the agent"),
    spans,
    /** The only one of this kind and name. */
    span(kind: "CLIENT" | "SERVER", name: string): ReadableSpan {
      const found = spans().filter((span) => span.kind === SpanKind[kind] && span.name === name);
      const [only] = found;
      if (!only || found.length > 1)
        throw new Error(
          `${found.length} of ${kind} ${name} in ${spans()
            .map((one) => one.name)
            .join(", ")}`,
        );
      return only;
    },
    reset: () => exporter.reset(),
    async histograms(): Promise<Histogram[]> {
      kept.reset();
      await reader.forceFlush();
      const all = kept.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
      return all.flatMap(({ metrics: own }) =>
        own.flatMap(({ descriptor, dataPointType, dataPoints }) => {
          if (dataPointType !== DataPointType.HISTOGRAM) return [];
          const points = dataPoints.map(({ attributes, value }) => ({ attributes, count: value.count }));
          const boundaries = dataPoints[0]?.value.buckets.boundaries ?? [];
          return [{ name: descriptor.name, unit: descriptor.unit, boundaries, points }];
        }),
      );
    },
    async [Symbol.asyncDispose]() {
      trace.disable();
      metrics.disable();
      context.disable();
      await Promise.allSettled([tracers.shutdown(), meters.shutdown()]);
    },
  };
}

/** The span as the parent of others, in W3C form. */
export function traceparentOf(span: ReadableSpan): string {
  const { traceId, spanId } = span.spanContext();
  return `00-${traceId}-${spanId}-01`;
}
