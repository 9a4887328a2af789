import { isPlugboardError } from "../errors.ts";
import type { PlugboardError } from "../errors.ts";
import type { Environment } from "../lib/folders.ts";
import { untilAborted } from "../lib/abortable.ts";
import { lastWords } from "../lib/last-words.ts";
import type { Telemetry } from "../lib/telemetry.ts";
import type { Capabilities } from "./rpc/envelope.ts";
import { patientPlan, planEra } from "./era.ts";
import type { Era, EraMemory, EraPlan } from "./era.ts";
import { AnsweredBoth, ExitedOnProbe, shakeHands } from "./handshake.ts";
import type { Greeting } from "./greeting.ts";
import { answerInRefusal, httpRefusal, shouldFallBackToSse, wasRefused } from "./http-evidence.ts";
import { failedToInstall } from "./launcher-failure.ts";
import { readNetwork } from "./network-files.ts";
import type { Otherwise } from "./rpc/inbound.ts";
import { Rpc } from "./rpc/rpc.ts";
import type { ProcessTree, ServerProgram } from "./process/process-tree.ts";
import type { RunningProgram } from "./process/running-program.ts";
import type { Redaction } from "./redaction.ts";
import { Session } from "./session.ts";
import type { StartLimit } from "./start-limit.ts";
import { TracedConnection } from "./traced-connection.ts";
import type { TargetIdentity } from "./target-identity.ts";
import type { ServerAuth, Target } from "./target.ts";
import { withTrace } from "./trace.ts";
import type { OnTrace } from "./trace.ts";
import type { Transport } from "./transports/transport.ts";

export interface OpenOptions {
  server: string;
  target: Target;
  /** What it is used as now: headers that are read again after a 401 can make it another one. */
  used: { identity: TargetIdentity };
  protocol: "auto" | Era | undefined;
  memory: EraMemory | undefined;
  capabilities: Capabilities;
  /** Answers server requests while none of ours is pending, and receives every notification. */
  otherwise: Otherwise;
  /** Called when a server request cannot be attributed to one of our requests. */
  onUntold(): void;
  /** The headers for one `tools/call`, with values not yet encoded. */
  paramHeaders(params: Record<string, unknown>): Record<string, string>;
  processes(): Promise<ProcessTree>;
  /** Called before a program is started. */
  beforeStart?: (() => Promise<void>) | undefined;
  /** A program that another command left, or one that may stay for the next; undefined if there is none of either. */
  warm?: ((program: ServerProgram, limitMs: number) => Promise<RunningProgram | undefined>) | undefined;
  env: Environment;
  authProvider?: ServerAuth | undefined;
  /** The limit for the whole start; the probe waits for at most half of it. */
  limitMs: number;
  /** Extends the start while the program is still being installed; `watch` gets its process id. */
  limit?: Pick<StartLimit, "watch" | "isInstalling"> | undefined;
  /** Aborted with the error to show when the start takes too long or is no longer needed. */
  signal: AbortSignal;
  redaction: Redaction;
  telemetry?: Telemetry | undefined;
  /** Observes every message both ways. */
  onTrace?: OnTrace | undefined;
  onStderr(line: string): void;
  /** A line on stdout that is not a message, without what is secret. */
  onSkipped(line: string): void;
  /** What the server said by itself may not have arrived. */
  onMissed(): void;
  /** The server may no longer know the session. */
  onDoubted(): void;
  onLost(error: PlugboardError): void;
}

/** Opens a connection: picks the transport and era and completes the handshake. Cleans up after itself if it fails. */
export async function openSession(options: OpenOptions): Promise<Session> {
  const { protocol, memory } = options;
  const plan = planEra(protocol, memory);
  try {
    return await openAs(options, plan);
  } catch (error) {
    const wasAssumed = !plan.probe && protocol !== "legacy" && options.target.kind !== "sse";
    // The remembered era may be out of date.
    if (!wasAssumed || options.signal.aborted || !wasRefused(error)) throw error;
    return openAs(options, planEra(protocol, undefined));
  }
}

const legacyPlan: EraPlan = { probe: false, initializeAfterMs: 0 };
const modernPlan: EraPlan = { probe: true, initializeAfterMs: undefined };

async function openAs(options: OpenOptions, plan: EraPlan): Promise<Session> {
  const { kind } = options.target;
  if (kind === "sse") return attempt(options, "sse", legacyPlan);
  if (kind === "http") return openHttp(options, scaleProbeWait(plan, httpSilenceFactor, options.limitMs));
  const { limitMs, memory } = options;
  const scaled = kind === "stdio" ? patientPlan(plan, memory, limitMs) : scaleProbeWait(plan, 1, limitMs);
  try {
    return await attempt(options, kind, scaled);
  } catch (error) {
    if (error instanceof ExitedOnProbe) return attempt(options, kind, legacyPlan, "exit");
    if (!(error instanceof AnsweredBoth)) throw error;
    return attempt(options, kind, modernPlan).catch((second: unknown) => {
      if (options.signal.aborted) throw second;
      return attempt(options, kind, legacyPlan, "answer");
    });
  }
}

function scaleProbeWait(plan: EraPlan, factor: number, limitMs: number): EraPlan {
  const { initializeAfterMs } = plan;
  if (!initializeAfterMs) return plan;
  return { ...plan, initializeAfterMs: Math.min(initializeAfterMs * factor, limitMs / 2) };
}

/** A modern server may start slowly behind HTTP, so the probe waits longer there than over stdio. */
const httpSilenceFactor = 5;

async function openHttp(options: OpenOptions, plan: EraPlan): Promise<Session> {
  try {
    return await attempt(options, "http", plan);
  } catch (error) {
    if (options.protocol === "modern" || options.signal.aborted || !shouldFallBackToSse(error)) throw error;
    // An SSE server refuses a POST. If it is not an SSE server either, the first error is the one to report.
    return attempt(options, "sse", legacyPlan).catch(() => Promise.reject(error as Error));
  }
}

type Kind = Target["kind"];

async function attempt(
  options: OpenOptions,
  kind: Kind,
  plan: EraPlan,
  basis?: EraMemory["basis"],
): Promise<Session> {
  const { server, signal, capabilities, otherwise, onUntold, onMissed, onDoubted } = options;
  const { onTrace } = options;
  const startedAt = performance.now();
  let spokeAt: number | undefined;
  const onStderr = (line: string) => {
    spokeAt = performance.now();
    options.onStderr(line);
  };
  const created = await createTransport({ ...options, onStderr }, kind);
  const transport = onTrace ? withTrace(created, server, options.redaction, onTrace) : created;
  const failed = new AbortController();
  let session: Session | undefined;
  const { redaction, telemetry, target } = options;
  const traced = telemetry && new TracedConnection(telemetry, server, target, transport, redaction);
  const onClosed = (error: PlugboardError) => {
    traced?.ended(session?.lost ? undefined : error);
    if (session) session.end(error);
    else failed.abort(error);
  };
  const onSkipped = (line: string) => {
    spokeAt = performance.now();
    options.onSkipped(redaction.text(line));
  };
  const events = { onUntold, onMissed, onDoubted, onClosed, onSkipped };
  const rpc = new Rpc({ server, transport, otherwise, redaction, traced: traced?.sent, ...events });
  try {
    signal.throwIfAborted();
    await untilAborted(rpc.start(), signal);
    const known = goOn(rpc, transport.kept);
    const greeting =
      known ??
      (await shakeHands({
        server,
        plan,
        capabilities,
        signal: AbortSignal.any([signal, failed.signal]),
        request: (method, params, during) => {
          const answer = rpc.requests.request(method, params, { ...handshakeRequest, signal: during });
          return kind === "http" ? answer.catch(answerInRefusal) : answer;
        },
        ...(kind === "http" && { refusal: httpRefusal }),
        ...(kind === "stdio" && {
          spokeAt: () => spokeAt,
          isInstalling: () => options.limit?.isInstalling ?? false,
          mayRestart: () => performance.now() - startedAt < options.limitMs / 2,
        }),
      }));
    transport.setVersion?.(greeting.version);
    if (greeting.era === "legacy" && !known)
      await untilAborted(rpc.notify("notifications/initialized"), signal);
    if (rpc.lost) throw rpc.lost;
    session = new Session({
      ...options,
      transport,
      rpc,
      greeting: basis ? { ...greeting, basis } : greeting,
    });
    traced?.opened(greeting.version);
    return session;
  } catch (error) {
    const cause = signal.aborted ? withStderr(signal.reason, transport) : (rpc.lost ?? error);
    await transport.close().catch(() => undefined);
    // A launcher that could not download the server will not do better without the probe.
    const isWorthARetry = !signal.aborted && !failedToInstall(cause, options.target);
    const isToStartAgain = error instanceof ExitedOnProbe || error instanceof AnsweredBoth;
    if (isToStartAgain && isWorthARetry) throw error;
    throw bothReasons(cause);
  }
}

/** Goes on with the session of an earlier command. */
function goOn(rpc: Rpc, kept: Transport["kept"]): Greeting | undefined {
  if (!kept) return undefined;
  rpc.requests.continueAfter(kept.issued);
  return kept.greeting as unknown as Greeting;
}

/** No timeout here: the start has its own deadline. */
const handshakeRequest = { timeoutMs: Infinity, maxTimeoutMs: Infinity, isHandshake: true };

/** Adds the line of stderr that explains why the server did not answer. */
function withStderr(error: unknown, transport: Transport): unknown {
  const tail = transport.facts.stderrTail;
  if (!isPlugboardError(error) || !tail) return error;
  return error.with({
    message: `${error.message} It printed: ${lastWords(tail)}`,
    data: { ...error.data, stderr: tail },
  });
}

async function createTransport(options: OpenOptions, kind: Kind): Promise<Transport> {
  const { target, server, env, redaction, onStderr } = options;
  const redact = (text: string) => redaction.text(text);
  const limits =
    "maxLineBytes" in target && target.maxLineBytes !== undefined
      ? { maxLineBytes: target.maxLineBytes }
      : {};
  if (target.kind === "stdio") {
    const { StdioTransport } = await import("./transports/stdio/transport.ts");
    const spawn = async (program: ServerProgram) => {
      await options.beforeStart?.();
      const warm = await options.warm?.(program, options.limitMs);
      const started = warm ?? (await (await options.processes()).spawn(program));
      options.limit?.watch(started.pid);
      return started;
    };
    return new StdioTransport({ processes: { spawn }, program: target.program, redact, onStderr, ...limits });
  }
  if (target.kind === "memory") {
    const { MemoryTransport } = await import("./transports/memory.ts");
    return new MemoryTransport(target);
  }
  const { maxLineBytes: maxBodyBytes } = limits;
  const settings = {
    redact,
    onCredential: (value: string) => redaction.remember(value),
    server,
    url: target.url,
    refuses: target.refuses,
    headers: target.headers,
    network: await readNetwork(server, target.network),
    env,
    auth: options.authProvider,
    limits: maxBodyBytes === undefined ? {} : { maxBodyBytes },
  };
  if (kind === "sse") return new (await import("./transports/sse.ts")).SseTransport(settings);
  const { HttpTransport } = await import("./transports/http/transport.ts");
  const { encodeHeaderValue } = await import("./transports/http/headers.ts");
  const paramHeaders = (method: string, params: Record<string, unknown>) => {
    if (method !== "tools/call") return {};
    const values = Object.entries(options.paramHeaders(params));
    return Object.fromEntries(values.map(([header, value]) => [header, encodeHeaderValue(value)]));
  };
  return new HttpTransport({ ...settings, paramHeaders });
}

/** If both handshake requests failed, returns the last error with both reasons in its message. */
function bothReasons(error: unknown): unknown {
  if (!(error instanceof AggregateError)) return error;
  const [last, first] = error.errors as unknown[];
  if (!isPlugboardError(last) || !isPlugboardError(first) || first.message === last.message) return last;
  return last.with({ message: `${last.message} (Before that: ${first.message})` });
}
