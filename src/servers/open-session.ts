import { explainToken } from "../auth/oauth/token-claims.ts";
import { PlugboardError, isPlugboardError } from "../errors.ts";
import type { Environment } from "../lib/folders.ts";
import { untilAborted } from "./abortable.ts";
import type { Capabilities } from "./rpc/envelope.ts";
import { planEra, refutesLegacy } from "./era.ts";
import type { Era, EraMemory, EraPlan } from "./era.ts";
import { ExitedOnProbe, shakeHands } from "./handshake.ts";
import type { Greeting } from "./handshake.ts";
import { answerInRefusal, httpRefusal } from "./http-evidence.ts";
import { readNetwork } from "./network-files.ts";
import { Peer } from "./rpc/peer.ts";
import type { PeerHandlers } from "./rpc/peer.ts";
import type { ProcessTree } from "./process/process-tree.ts";
import type { Redaction } from "./redaction.ts";
import { Session } from "./session.ts";
import type { ServerTransport } from "./session.ts";
import { hasCredentials } from "./target.ts";
import type { ServerAuth, Target } from "./target.ts";

export interface OpenOptions {
  server: string;
  target: Target;
  protocol: "auto" | Era | undefined;
  memory: EraMemory | undefined;
  capabilities: Capabilities;
  handlers: PeerHandlers;
  /** Headers of one `tools/call`, values not yet encoded. */
  paramHeaders(params: Record<string, unknown>): Record<string, string>;
  processes(): Promise<ProcessTree>;
  env: Environment;
  authProvider?: ServerAuth | undefined;
  /** How long all of it may take; silence is waited out for at most half of that. */
  limitMs: number;
  /** Aborted with the error to show when the start takes too long or nobody wants it any more. */
  signal: AbortSignal;
  redaction: Redaction;
  onStderr(line: string): void;
  onLost(error: PlugboardError): void;
}

/** Opens a connection: the right transport, the right era, greeted and ready. Leaves nothing behind when it fails. */
export async function openSession(options: OpenOptions): Promise<Session> {
  const { protocol, memory } = options;
  const plan = planEra(protocol, memory);
  try {
    return await openAs(options, plan);
  } catch (error) {
    const wasAssumed = !plan.probe && protocol !== "legacy" && options.target.kind !== "sse";
    if (!wasAssumed || !refusesToInitialize(error)) throw error;
    return openAs(options, planEra(protocol, undefined));
  }
}

/** What we remembered is out of date: it was legacy and no longer knows `initialize`. */
function refusesToInitialize(error: unknown): boolean {
  const code = isPlugboardError(error) ? error.data?.["rpcCode"] : undefined;
  return typeof code === "number" && refutesLegacy(code);
}

const legacyPlan: EraPlan = { probe: false, initializeAfterMs: 0 };

async function openAs(options: OpenOptions, plan: EraPlan): Promise<Session> {
  const { kind } = options.target;
  if (kind === "sse") return attempt(options, "sse", legacyPlan);
  if (kind === "http") return openHttp(options, patient(plan, httpSilenceFactor, options.limitMs));
  try {
    return await attempt(options, kind, patient(plan, 1, options.limitMs));
  } catch (error) {
    if (error instanceof ExitedOnProbe) return attempt(options, kind, legacyPlan, "exit");
    throw error;
  }
}

function patient(plan: EraPlan, factor: number, limitMs: number): EraPlan {
  const { initializeAfterMs } = plan;
  if (!initializeAfterMs) return plan;
  return { ...plan, initializeAfterMs: Math.min(initializeAfterMs * factor, limitMs / 2) };
}

/** A cold modern server may need a while over HTTP, so silence there is waited out longer than over a pipe. */
const httpSilenceFactor = 5;

async function openHttp(options: OpenOptions, plan: EraPlan): Promise<Session> {
  try {
    return await attempt(options, "http", plan);
  } catch (error) {
    const { shouldFallBackToSse } = await import("./transports/http/transport.ts");
    if (options.protocol === "modern" || options.signal.aborted || !shouldFallBackToSse(error)) throw error;
    // A server of the older kind refuses a POST; when it is none of those either, the first refusal is the truth.
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
  const { server, signal, capabilities, handlers } = options;
  const transport = await createTransport(options, kind);
  const peer = new Peer(transport, server, handlers);
  const failed = new AbortController();
  Object.assign(transport, { onclose: () => failed.abort(transport.lost), onerror: () => undefined });
  try {
    signal.throwIfAborted();
    await untilAborted(transport.start(), signal);
    const greeting = await shakeHands({
      server,
      plan,
      capabilities,
      signal: AbortSignal.any([signal, failed.signal]),
      request: (method, params, during) => {
        const answer = peer.request(method, params, during);
        return kind === "http" ? answer.catch(answerInRefusal) : answer;
      },
      ...(kind === "http" && { refusal: httpRefusal }),
    });
    await finish(greeting, transport, peer);
    const session = new Session({
      ...options,
      kind,
      transport,
      peer,
      greeting: basis ? { ...greeting, basis } : greeting,
    });
    if (session.lost) throw session.lost;
    return session;
  } catch (error) {
    const cause = signal.aborted ? withStderr(signal.reason, transport) : (transport.lost ?? error);
    await transport.close().catch(() => undefined);
    if (error instanceof ExitedOnProbe && !signal.aborted) throw error;
    throw kind === "http" || kind === "sse" ? await translate(cause, options) : cause;
  }
}

/** What the server said while it kept us waiting is usually the reason. */
function withStderr(error: unknown, transport: ServerTransport & { stderr?: { tail(): string } }): unknown {
  const tail = transport.stderr?.tail();
  if (!isPlugboardError(error) || !tail) return error;
  const { code, message, server, data, hint } = error;
  const last = tail.trimEnd().split("\n").at(-1) ?? "";
  return new PlugboardError(code, `${message} Its last words: ${last.slice(0, 300)}`, {
    server,
    data: { ...data, stderr: tail },
    hint,
    cause: error,
  });
}

async function finish(greeting: Greeting, transport: ServerTransport, peer: Peer): Promise<void> {
  transport.setProtocolVersion?.(greeting.version);
  if (greeting.era === "legacy") await peer.notify("notifications/initialized");
}

async function createTransport(options: OpenOptions, kind: Kind): Promise<ServerTransport> {
  const { target, server, env, redaction, onStderr } = options;
  const redact = (text: string) => redaction.text(text);
  const limits =
    "maxLineBytes" in target && target.maxLineBytes !== undefined
      ? { maxLineBytes: target.maxLineBytes }
      : {};
  if (target.kind === "stdio") {
    const { StdioTransport } = await import("./transports/stdio/transport.ts");
    const processes = await options.processes();
    return new StdioTransport({ processes, program: target.program, redact, onStderr, ...limits });
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
    headers: options.authProvider?.headers
      ? async () => {
          const made = (await options.authProvider?.headers?.()) ?? {};
          // Short ones are flags and the like.
          for (const value of Object.values(made)) if (value.length >= 8) redaction.remember(value);
          return { ...target.headers, ...made };
        }
      : target.headers,
    network: await readNetwork(server, target.network),
    env,
    authProvider: options.authProvider,
    limits: maxBodyBytes === undefined ? {} : { maxBodyBytes },
  };
  if (kind === "sse") return new (await import("./transports/sse.ts")).SseTransport(settings);
  const { HttpTransport, encodeHeaderValue } = await import("./transports/http/transport.ts");
  const paramHeaders = (method: string, params: Record<string, unknown>) => {
    if (method !== "tools/call") return {};
    const values = Object.entries(options.paramHeaders(params));
    return Object.fromEntries(values.map(([header, value]) => [header, encodeHeaderValue(value)]));
  };
  return new HttpTransport({ ...settings, paramHeaders });
}

async function hasToken(provider: ServerAuth): Promise<boolean> {
  try {
    return provider.headers !== undefined || (await provider.token()) !== undefined;
  } catch {
    return false;
  }
}

/** For a token that is configured. */
function explainConfigured(target: Target, now: number): string | undefined {
  if (!("headers" in target)) return undefined;
  const [, value = ""] =
    Object.entries(target.headers).find(([name]) => name.toLowerCase() === "authorization") ?? [];
  return explainToken(value.replace(/^\S+\s+/, ""), target.url, now);
}

async function translate(error: unknown, options: OpenOptions): Promise<PlugboardError> {
  const { server, target, authProvider, redaction } = options;
  const { httpFailure } = await import("./transports/http/transport.ts");
  const isConfigured = "headers" in target && hasCredentials(target.headers);
  const hadCredentials = isConfigured || (authProvider !== undefined && (await hasToken(authProvider)));
  const redact = (text: string) => redaction.text(text);
  const now = Date.now();
  const explain = () => authProvider?.explainRefusal?.() ?? explainConfigured(target, now);
  const context = { server, hadSession: false, hasCredentials: hadCredentials, now, redact, explain };
  const last = httpFailure(error, context);
  if (!(error instanceof AggregateError) || error.errors.length < 2) return last;
  const { message } = httpFailure(error.errors[1], context);
  const { code, data, hint } = last;
  if (message === last.message) return last;
  const both = `${last.message} (Before that: ${message})`;
  return new PlugboardError(code, both, { server, data, hint, cause: last });
}
