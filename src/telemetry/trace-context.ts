import type { Context, TextMapPropagator } from "@opentelemetry/api";
import { isRecord } from "../lib/record.ts";
import type { Api } from "./open-telemetry.ts";

/** More than this in one field is not a trace context. The limit of W3C Baggage. */
const longest = 8_192;

type Carrier = Readonly<Record<string, unknown>>;

/** Carries the trace context in `_meta`: with the registered propagator, else as W3C Trace Context. */
export class TraceContext {
  readonly #propagator: Pick<TextMapPropagator<unknown>, "inject" | "extract">;

  constructor(api: Api) {
    const { propagation } = api;
    this.#propagator = propagation.fields().length > 0 ? propagation : w3cTraceContext(api);
  }

  /** The fields for `_meta`; undefined if there are none. */
  inject(context: Context): Record<string, string> | undefined {
    const fields: Record<string, string> = {};
    this.#propagator.inject(context, fields, setter);
    for (const _field in fields) return fields;
    return undefined;
  }

  /** `context` with what the parameters of a request say about their trace. What is malformed says nothing. */
  extract(context: Context, { _meta: meta }: Carrier): Context {
    return isRecord(meta) ? this.#propagator.extract(context, meta, getter) : context;
  }
}

const setter = {
  set: (carrier: unknown, key: string, value: string): void => {
    if (value.length <= longest) (carrier as Record<string, string>)[key] = value;
  },
};

const getter = {
  keys: (carrier: unknown): string[] => Object.keys(carrier as Carrier),
  get: (carrier: unknown, key: string): string | undefined => {
    const value = Object.hasOwn(carrier as Carrier, key) ? (carrier as Carrier)[key] : undefined;
    return typeof value === "string" && value.length <= longest ? value : undefined;
  },
};

const parentPattern = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

function w3cTraceContext(api: Api): Pick<TextMapPropagator<unknown>, "inject" | "extract"> {
  const { trace, isSpanContextValid, createTraceState } = api;
  return {
    inject(context, carrier, { set }) {
      const span = trace.getSpanContext(context);
      if (!span || !isSpanContextValid(span)) return;
      const flags = span.traceFlags.toString(16).padStart(2, "0");
      set(carrier, "traceparent", `00-${span.traceId}-${span.spanId}-${flags}`);
      const state = span.traceState?.serialize();
      if (state) set(carrier, "tracestate", state);
    },
    extract(context, carrier, { get }) {
      const text = get(carrier, "traceparent");
      const [, version, traceId = "", spanId = "", flags = "", rest] =
        (typeof text === "string" && parentPattern.exec(text)) || [];
      if (version === undefined || (version === "00" && rest !== undefined)) return context;
      const state = get(carrier, "tracestate");
      const parent = {
        traceId,
        spanId,
        // Other flags than `sampled` are not ours to pass on.
        traceFlags: Number.parseInt(flags, 16) & 1,
        isRemote: true,
        ...(typeof state === "string" && { traceState: createTraceState(state) }),
      };
      return isSpanContextValid(parent) ? trace.setSpanContext(context, parent) : context;
    },
  };
}
