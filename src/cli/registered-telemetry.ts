import { PlugboardError, isPlugboardError } from "../index.ts";
import type { Environment } from "../config.ts";
import type { Telemetry } from "../index.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** What `node --import` has registered with `@opentelemetry/api`, and how to hand over what is still in memory. */
export interface RegisteredTelemetry {
  telemetry: Telemetry | undefined;
  /** Exports the rest. Returns what is wrong if that fails or takes too long. */
  flush(): Promise<PlugboardError | undefined>;
  /** Why nothing is recorded although the environment asks for it. */
  problem: PlugboardError | undefined;
}

interface Provider {
  getDelegate?(): Provider;
  forceFlush?(): Promise<void>;
}

/** Where all copies of the API's first version, whatever package loaded them, keep what is registered. */
const registryKey = Symbol.for("opentelemetry.js.api.1");
/** An exporter that never answers delays the end of a command no longer than this. */
const flushMs = 2_000;

/**
 * The telemetry of a command. Nothing of OpenTelemetry is loaded unless somebody registered a provider before. Arguments
 * and results are recorded only if the variable of the conventions for generative AI says so.
 */
export async function registeredTelemetry(
  env: Environment,
  terminal: Terminal,
): Promise<RegisteredTelemetry> {
  const registry = (globalThis as Record<symbol, unknown>)[registryKey] as
    | Partial<Record<"trace" | "metrics", Provider>>
    | undefined;
  const providers = [registry?.trace, registry?.metrics].filter((one) => one !== undefined);
  const none = { telemetry: undefined, flush: async () => undefined };
  if (providers.length === 0) return { ...none, problem: isWanted(env) ? unregistered() : undefined };
  try {
    const { openTelemetry } = await import("../telemetry/index.ts");
    const isShown = /^true$/i.test(env[contentVariable] ?? "");
    const telemetry = await openTelemetry({ arguments: isShown, results: isShown });
    return { telemetry, flush: () => flushAll(providers, terminal), problem: undefined };
  } catch (error) {
    if (!isPlugboardError(error)) throw error;
    return { ...none, problem: error };
  }
}

const contentVariable = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

function isWanted(env: Environment): boolean {
  if (/^true$/i.test(env["OTEL_SDK_DISABLED"] ?? "")) return false;
  return Object.keys(env).some((name) => /^OTEL_EXPORTER_OTLP(_[A-Z]+)?_ENDPOINT$/.test(name));
}

async function flushAll(
  providers: readonly Provider[],
  terminal: Terminal,
): Promise<PlugboardError | undefined> {
  // Exports that began earlier can outlast the flush, and nothing but the end of the process cancels them.
  terminal.exitBy = performance.now() + flushMs;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<PlugboardError>((resolve) => {
    timer = setTimeout(() => resolve(unsent(`it took longer than ${flushMs / 1000} s`)), flushMs);
  });
  const flushed = providers.map(async (one) => (one.getDelegate?.() ?? one).forceFlush?.());
  try {
    return await Promise.race([Promise.allSettled(flushed).then(firstProblem), late]);
  } finally {
    clearTimeout(timer);
  }
}

function firstProblem(outcomes: readonly PromiseSettledResult<void>[]): PlugboardError | undefined {
  const failed = outcomes.find((one) => one.status === "rejected");
  return failed && unsent(messageOf(failed.reason));
}

function unsent(why: string): PlugboardError {
  return new PlugboardError(
    "telemetry-unavailable",
    `The last spans and metrics were not exported: ${why.slice(0, 200)}.`,
    { hint: "Check that the collector of OTEL_EXPORTER_OTLP_ENDPOINT can be reached." },
  );
}

function unregistered(): PlugboardError {
  return new PlugboardError(
    "telemetry-unavailable",
    "OTEL_EXPORTER_OTLP_ENDPOINT is set, but no OpenTelemetry provider is registered.",
    { hint: "Start Plugboard with `node --import FILE`. See docs/telemetry.md." },
  );
}

/** Exporters reject with one error, or with all of them. */
function messageOf(error: unknown): string {
  const [first] = Array.isArray(error) ? (error as unknown[]) : [error];
  return first instanceof Error ? first.message : String(first);
}
