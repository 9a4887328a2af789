import { PlugboardError } from "../index.ts";
import type { Telemetry } from "../index.ts";
import { OpenTelemetry } from "./open-telemetry.ts";
import type { Api, TelemetryOptions } from "./open-telemetry.ts";

export type { TelemetryOptions } from "./open-telemetry.ts";

/**
 * Spans and metrics by the OpenTelemetry conventions for MCP, for the `telemetry` of `createHub` and `createGateway`. Uses
 * the providers, propagator and context manager that the program has registered; register them before. Throws
 * `telemetry-unavailable` if `@opentelemetry/api` is not installed.
 */
export async function openTelemetry(options: TelemetryOptions = {}): Promise<Telemetry> {
  const api = await loadApi();
  return new OpenTelemetry(api, options);
}

async function loadApi(): Promise<Api> {
  const hint = "Run `npm install @opentelemetry/api@1` where plugboard is installed.";
  const failed = (problem: string, cause?: unknown) =>
    new PlugboardError("telemetry-unavailable", `Telemetry needs @opentelemetry/api 1, ${problem}.`, {
      cause,
      hint,
    });
  const api = await import("@opentelemetry/api").catch((cause: unknown) =>
    Promise.reject(failed("which is not installed", cause)),
  );
  const needed: (keyof Api)[] = ["trace", "metrics", "context", "propagation"];
  if (needed.some((name) => !(name in api))) throw failed("but another version is installed");
  return api;
}
