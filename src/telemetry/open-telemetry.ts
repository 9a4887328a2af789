import type * as api from "@opentelemetry/api";
import type { Context, Histogram, Span, SpanContext, Tracer } from "@opentelemetry/api";
import { version } from "../host.ts";
import type { SentRequest, SentSpan, ServedRequest, TracedAnswer, TracedPeer } from "../host.ts";
import type { Telemetry } from "../index.ts";
import {
  failedAttributes,
  hidesTarget,
  methodOf,
  metricAttributes,
  peerAttributes,
  spanAttributes,
  targetOf,
  uriAttribute,
  uriOf,
} from "./attributes.ts";
import { failureIn, failureOf, resultOf } from "./outcome.ts";
import type { Failed } from "./outcome.ts";
import { hidden } from "../lib/secret-words.ts";
import { withoutUri } from "./safe-uri.ts";
import { TraceContext } from "./trace-context.ts";

export type Api = typeof api;

/** Options of `openTelemetry`. */
export interface TelemetryOptions {
  /** Record the arguments of tool calls, cut and without secrets. Default: false. */
  arguments?: boolean | undefined;
  /** Record the results of tool calls, cut and without secrets. Default: false. */
  results?: boolean | undefined;
  /** Which servers are told the trace that a request belongs to, in its `_meta`. Default: all. */
  propagate?: ((server: string) => boolean) | undefined;
}

/** The boundaries that the conventions recommend, in seconds. */
const boundaries = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
const nothing: SentSpan = { meta: undefined, answered: () => undefined, failed: () => undefined };

/** Spans and metrics by https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md */
export class OpenTelemetry implements Telemetry {
  readonly #api: Api;
  readonly #options: TelemetryOptions;
  readonly #traces: TraceContext;
  readonly #tracer: Tracer;
  readonly #operations: Record<"client" | "server", Histogram>;
  readonly #sessions: Record<"client" | "server", Histogram>;

  constructor(loaded: Api, options: TelemetryOptions) {
    this.#api = loaded;
    this.#options = options;
    this.#traces = new TraceContext(loaded);
    this.#tracer = loaded.trace.getTracer("plugboard", version);
    const meter = loaded.metrics.getMeter("plugboard", version);
    const histogram = (name: string, description: string) =>
      meter.createHistogram(name, {
        description,
        unit: "s",
        advice: { explicitBucketBoundaries: [...boundaries] },
      });
    const request = "Duration of MCP requests as observed on the";
    const session = "Duration of MCP sessions as observed on the";
    this.#operations = {
      client: histogram("mcp.client.operation.duration", `${request} client.`),
      server: histogram("mcp.server.operation.duration", `${request} server.`),
    };
    this.#sessions = {
      client: histogram("mcp.client.session.duration", `${session} client.`),
      server: histogram("mcp.server.session.duration", `${session} server.`),
    };
  }

  sent(request: SentRequest): SentSpan {
    return quietly(() => this.#sent(request)) ?? nothing;
  }

  served<A extends TracedAnswer>(request: ServedRequest, answer: () => Promise<A>): Promise<A> {
    const begun = quietly(() => this.#served(request));
    if (!begun) return answer();
    const { context, end } = begun;
    const uri = uriOf(request);
    const clean = uri === undefined ? undefined : (text: string) => withoutUri(text, uri);
    return this.#api.context.with(context, answer).then(
      (result) => {
        end(() => failureIn(result, clean));
        return result;
      },
      (error: unknown) => {
        end(() => failureOf(error, clean));
        throw error;
      },
    );
  }

  session(side: "client" | "server", peer: TracedPeer): (error?: unknown) => void {
    const startedAt = performance.now();
    let isOver = false;
    return (error) => {
      if (isOver) return;
      isOver = true;
      quietly(() =>
        this.#sessions[side].record(secondsSince(startedAt), {
          ...peerAttributes(peer),
          ...(error !== undefined && { "error.type": failureOf(error).type }),
        }),
      );
    };
  }

  #sent(request: SentRequest): SentSpan {
    const { trace, context } = this.#api;
    const { method, params, server, shown } = request;
    const active = context.active();
    // A program between others may know the trace only from what it passes on.
    const parent = trace.getSpanContext(active) ? active : this.#traces.extract(active, params);
    const { span, end } = this.#begin("client", request, parent);
    span.setAttribute("plugboard.server", server);
    this.#tellServed(request, span, active);
    const isCall = method === "tools/call" && span.isRecording();
    if (isCall && this.#options.arguments)
      span.setAttribute("gen_ai.tool.call.arguments", shown(params["arguments"] ?? {}));
    const isTold = quietly(() => this.#isTold(server)) ?? false;
    return {
      meta: isTold ? this.#traces.inject(trace.setSpan(parent, span)) : undefined,
      answered: (answer) =>
        end(() => {
          const failed = failureIn(answer);
          if (method === "initialize") setVersion(span, answer, request.peer);
          if (isCall && this.#options.results && !failed)
            span.setAttribute("gen_ai.tool.call.result", shown(resultOf(answer)));
          return failed;
        }),
      failed: (error) => end(() => failureOf(error)),
    };
  }

  /** What a client's request may show is known only where the credentials of its server are: here. */
  #tellServed(request: SentRequest, span: Span, active: Context): void {
    const served = active.getValue(servedKey) as ServedSpan | undefined;
    const isServed = served?.method === request.method && served.span.isRecording();
    if (isServed && hidesTarget(request)) served.hidesTarget = true;
    const uri = uriOf(request);
    const shown = uri === undefined ? undefined : uriAttribute(uri, request.peer);
    if (!shown) return;
    span.setAttributes(shown);
    if (isServed) served.span.setAttributes(shown);
  }

  /** Only a plain true counts: a promise comes too late. */
  #isTold(server: string): boolean {
    const { propagate } = this.#options;
    const answer: unknown = propagate ? propagate(server) : true;
    if (answer instanceof Promise) answer.catch(() => undefined);
    return answer === true;
  }

  #served(request: ServedRequest): { context: Context; end: End } {
    const { trace, context } = this.#api;
    const active = context.active();
    const parent = this.#traces.extract(active, request.params);
    // The transport's own span, if there is one, is another trace's.
    const around = trace.getSpanContext(active);
    const isElsewhere = around !== undefined && trace.getSpanContext(parent) !== around;
    const links = isElsewhere ? [{ context: around }] : undefined;
    const { span, end, served } = this.#begin("server", request, parent, links);
    return { context: trace.setSpan(parent, span).setValue(servedKey, served), end };
  }

  #begin(
    side: "client" | "server",
    request: ServedRequest,
    parent: Context,
    links?: { context: SpanContext }[],
  ): { span: Span; end: End; served: ServedSpan } {
    const { SpanKind, SpanStatusCode } = this.#api;
    const startedAt = performance.now();
    const target = targetOf(request);
    let few = metricAttributes(request, target);
    const span = this.#tracer.startSpan(
      target === undefined ? methodOf(request) : `${request.method} ${target}`,
      {
        kind: side === "client" ? SpanKind.CLIENT : SpanKind.SERVER,
        attributes: few,
        ...(links && { links }),
      },
      parent,
    );
    if (span.isRecording()) span.setAttributes(spanAttributes(request));
    const served: ServedSpan = { span, method: request.method, hidesTarget: false };
    const end: End = (outcome) =>
      quietly(() => {
        const failed = quietly(outcome);
        if (served.hidesTarget) {
          few = metricAttributes(request, target && hidden);
          span.updateName(methodOf(request)).setAttributes(few);
        }
        if (!failed) {
          span.end();
          return this.#operations[side].record(secondsSince(startedAt), few);
        }
        const { type, code, message } = failed;
        const errors = {
          "error.type": type,
          ...(code !== undefined && { "rpc.response.status_code": code }),
        };
        span.setAttributes(errors);
        span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
        span.end();
        this.#operations[side].record(secondsSince(startedAt), failedAttributes(few, failed));
      });
    return { span, end, served };
  }
}

/** Where the context has the span of the client's request that is being answered. */
const servedKey = Symbol.for("plugboard.served");

interface ServedSpan {
  readonly span: Span;
  readonly method: string;
  /** The name of the tool or prompt contains a credential of its server. */
  hidesTarget: boolean;
}

type End = (outcome: () => Failed | undefined) => void;

function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}

/** The revision is agreed upon with the answer. */
function setVersion(span: Span, answer: TracedAnswer, { redact }: TracedPeer): void {
  const agreed = "result" in answer ? answer.result["protocolVersion"] : undefined;
  if (typeof agreed !== "string") return;
  span.setAttribute(
    "mcp.protocol.version",
    (redact?.(agreed.slice(0, longestVersion)) ?? agreed).slice(0, 32),
  );
}

/** More than a version and a credential in it. */
const longestVersion = 8_192;

/** Whoever watches must not disturb what they watch: a processor, sampler or propagator that throws is ignored. */
function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
