import { PlugboardError, isPlugboardError } from "../errors.ts";
import { isRecord } from "../lib/record.ts";
import { clientInfo, modernEnvelope } from "./rpc/envelope.ts";
import { legacyRevisions, modernRevision } from "./rpc/revisions.ts";
import type { Capabilities } from "./rpc/envelope.ts";
import { judgeProbe, provesModern } from "./era.ts";
import { wasRefused } from "./http-evidence.ts";
import type { Era, EraMemory, EraPlan, ProbeOutcome } from "./era.ts";
import type { JsonRpcAnswer } from "./rpc/messages.ts";

/** What a server said about itself. */
export interface Greeting {
  era: Era;
  basis: EraMemory["basis"];
  version: string;
  capabilities: Record<string, unknown>;
  serverInfo?: Record<string, unknown>;
  instructions?: string;
}

export interface HandshakeOptions {
  server: string;
  plan: EraPlan;
  capabilities: Capabilities;
  /** Aborts the handshake; the caller sees its reason. */
  signal: AbortSignal;
  request(method: string, params: Record<string, unknown>, signal: AbortSignal): Promise<JsonRpcAnswer>;
  /** Over HTTP: turns a failed request into evidence about the era, or throws if it is not (401, refused, TLS …). */
  refusal?(error: unknown): ProbeOutcome;
}

/** The server exited on the probe, as servers built with the Rust SDK do. Start it again without the probe. */
export class ExitedOnProbe extends Error {}

/**
 * Detects the server's era by the rules in `era.ts` and completes the handshake. The caller sends
 * `notifications/initialized`. If both requests fail, throws an `AggregateError` with both reasons, the last one first.
 */
export async function shakeHands(options: HandshakeOptions): Promise<Greeting> {
  const { plan } = options;
  if (!plan.probe) return initialize(options, "answer");
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  try {
    const probe = discover(options, signal);
    if (plan.initializeAfterMs === undefined) return await pinnedModern(options, await probe);
    const first = await Promise.race([probe, pause(plan.initializeAfterMs, signal)]);
    return first ? await conclude(options, first) : await race(options, probe, signal);
  } finally {
    ended.abort();
  }
}

/** Both requests are pending. The probe was sent first, so its answer takes precedence, even if it is late. */
async function race(
  options: HandshakeOptions,
  probe: Promise<Probe>,
  signal: AbortSignal,
): Promise<Greeting> {
  const offered = initialize({ ...options, signal }, "silence").then(
    (greeting) => ({ greeting }),
    (error: unknown) => ({ error }),
  );
  const first = await Promise.race([probe, offered]);
  if ("greeting" in first) return first.greeting;
  if ("outcome" in first)
    return first.outcome.kind === "exited" ? conclude(options, first) : settle(await offered, first.outcome);
  const isModern = isPlugboardError(first.error) && provesModern(first.error.data?.rpcCode);
  if (isModern) return conclude(options, await probe);
  // The server may still answer the probe, but after a refusal it is not worth waiting without limit.
  const late = options.refusal
    ? undefined
    : await Promise.race([probe, pause(options.plan.initializeAfterMs ?? 0, signal)]);
  if (!late?.greeting) throw first.error;
  return late.greeting;
}

function settle(offered: { greeting: Greeting } | { error: unknown }, outcome: ProbeOutcome): Greeting {
  if (!("greeting" in offered)) throw offered.error;
  return outcome.kind === "refused" ? { ...offered.greeting, basis: "answer" } : offered.greeting;
}

/** Says nothing about eras: the server had a problem of its own. */
const internalError = -32_603;

interface Probe {
  outcome: ProbeOutcome;
  greeting?: Greeting;
  /** Reported if `initialize` fails too. */
  error?: unknown;
}

/** Repeats the probe once if the server rejects the revision but lists that same revision as supported. */
async function discover(options: HandshakeOptions, signal: AbortSignal): Promise<Probe> {
  const first = await discoverOnce(options, signal);
  const { outcome } = first;
  const isShared =
    outcome.kind === "refused" && provesModern(outcome.code) && outcome.supported?.includes(modernRevision);
  return isShared ? discoverOnce(options, signal) : first;
}

async function discoverOnce(
  { capabilities, request, refusal }: HandshakeOptions,
  signal: AbortSignal,
): Promise<Probe> {
  let answer: JsonRpcAnswer;
  try {
    answer = await request("server/discover", { _meta: modernEnvelope(capabilities) }, signal);
  } catch (error) {
    if (isPlugboardError(error, "server-exited")) return { outcome: { kind: "exited" }, error };
    if (signal.aborted) throw error;
    if (!refusal) throw error;
    return { outcome: refusal(error), error };
  }
  if ("error" in answer) {
    const { code, data } = answer.error;
    if (code === internalError) return { outcome: { kind: "unclear" } };
    const supported =
      isRecord(data) && Array.isArray(data["supported"]) ? (data["supported"] as string[]) : undefined;
    return { outcome: { kind: "refused", code, ...(supported && { supported }) } };
  }
  const greeting = readDiscovery(answer.result);
  return greeting ? { outcome: { kind: "modern" }, greeting } : { outcome: { kind: "refused" } };
}

async function conclude(options: HandshakeOptions, { outcome, greeting, error }: Probe): Promise<Greeting> {
  if (greeting) return greeting;
  const verdict = judgeProbe(outcome);
  if (verdict.era === "none") throw unsupported(options.server, verdict.supported);
  if (verdict.basis === "exit") throw new ExitedOnProbe();
  try {
    return await initialize(options, verdict.basis);
  } catch (second) {
    // A modern server whose answer to the probe was lost on its way.
    const isWorthARetry = outcome.kind === "unclear" && wasRefused(second) && !options.signal.aborted;
    const again = isWorthARetry ? await discoverOnce(options, options.signal) : undefined;
    if (again?.greeting) return again.greeting;
    throw error === undefined ? second : new AggregateError([second, error]);
  }
}

async function pinnedModern(
  options: HandshakeOptions,
  { greeting, outcome, error }: Probe,
): Promise<Greeting> {
  if (greeting) return greeting;
  if (error !== undefined && outcome.kind !== "refused") throw error;
  const verdict = judgeProbe(outcome);
  if (verdict.era === "none") throw unsupported(options.server, verdict.supported);
  throw new PlugboardError(
    "version-unsupported",
    `"${options.server}" does not support the modern protocol, but \`protocol\` is set to \`modern\`.`,
    { server: options.server },
  );
}

async function initialize(
  { server, capabilities, request, signal }: HandshakeOptions,
  basis: EraMemory["basis"],
): Promise<Greeting> {
  const params = { protocolVersion: legacyRevisions[0], capabilities, clientInfo };
  const answer = await request("initialize", params, signal);
  if ("error" in answer) {
    const { code, message } = answer.error;
    const isVersion = provesModern(code);
    throw new PlugboardError(
      isVersion ? "version-unsupported" : "protocol-error",
      `"${server}" rejected \`initialize\`: ${message} (${code}).`,
      { server, data: { rpcCode: code } },
    );
  }
  const { protocolVersion, capabilities: offered, serverInfo, instructions } = answer.result;
  if (typeof protocolVersion !== "string" || !isRecord(offered) || !isRecord(serverInfo)) {
    throw new PlugboardError("protocol-error", `"${server}" sent an incomplete \`initialize\` result.`, {
      server,
    });
  }
  if (!(legacyRevisions as readonly string[]).includes(protocolVersion))
    throw unsupported(server, [protocolVersion]);
  return {
    era: "legacy",
    basis,
    version: protocolVersion,
    capabilities: offered,
    serverInfo,
    ...(typeof instructions === "string" && { instructions }),
  };
}

export function readDiscovery(result: Record<string, unknown>): Greeting | undefined {
  const { supportedVersions, capabilities, instructions, _meta: meta } = result;
  if (
    !Array.isArray(supportedVersions) ||
    !supportedVersions.includes(modernRevision) ||
    !isRecord(capabilities)
  )
    return undefined;
  const info = isRecord(meta) ? meta["io.modelcontextprotocol/serverInfo"] : undefined;
  return {
    era: "modern",
    basis: "answer",
    version: modernRevision,
    capabilities,
    ...(isRecord(info) && { serverInfo: info }),
    ...(typeof instructions === "string" && { instructions }),
  };
}

function unsupported(server: string, revisions: readonly string[]): PlugboardError {
  const message = `"${server}" supports only ${revisions.slice(0, 5).join(", ")}, which Plugboard does not.`;
  return new PlugboardError("version-unsupported", message, {
    server,
    data: { supported: revisions.slice(0, 5) },
  });
}

/** Never settles after an abort: the requests it races with reject then, with the reason that matters. */
function pause(ms: number, signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  });
}
