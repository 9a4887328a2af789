import { PlugboardError, isPlugboardError } from "../errors.ts";
import { judgeProbe, provesModern } from "./era.ts";
import type { ProbeOutcome } from "./era.ts";
import { discover, discoverOnce, initialize, unsupported } from "./greeting.ts";
import type { Greeting, HandshakeOptions, Probe } from "./greeting.ts";
import { wasRefused } from "./http-evidence.ts";

/** The server exited on the probe, as servers built with the Rust SDK do. Start it again without the probe. */
export class ExitedOnProbe extends Error {}

/**
 * The server speaks the modern protocol, but it also got `initialize`, after which a program serves only the legacy one.
 * Start it again with `server/discover` alone.
 */
export class AnsweredBoth extends Error {}

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
    const first = await Promise.race([probe, untilDue(options, plan.initializeAfterMs, signal)]);
    return first ? await conclude(options, first) : await race(options, probe, signal);
  } finally {
    ended.abort();
  }
}

type Offer = { greeting: Greeting } | { error: unknown };

/**
 * Both requests are pending. Over HTTP they are independent of each other, so the first answer decides. A program that
 * answers `initialize` is legacy from then on, whatever it said to the probe.
 */
async function race(
  options: HandshakeOptions,
  probe: Promise<Probe>,
  signal: AbortSignal,
): Promise<Greeting> {
  const offered: Promise<Offer> = initialize({ ...options, signal }, "silence").then(
    (greeting) => ({ greeting }),
    (error: unknown) => ({ error }),
  );
  const probed = probe.then((answer) => ({ probed: answer }));
  const first = await Promise.race([probed, offered]);
  if ("probed" in first) return afterProbe(options, first.probed, offered, signal);
  if ("greeting" in first) return afterOffer(options, first.greeting, probe, signal);
  const isModern = isPlugboardError(first.error) && provesModern(first.error.data?.rpcCode);
  if (isModern) return conclude(options, await probe);
  // The server may still answer the probe, but after a refusal it is not worth waiting without limit.
  const late = options.refusal
    ? undefined
    : await Promise.race([probe, pause(options.plan.initializeAfterMs ?? 0, signal)]);
  if (!late?.greeting) throw first.error;
  return late.greeting;
}

/** The probe was answered, and `initialize` is pending. */
async function afterProbe(
  options: HandshakeOptions,
  probe: Probe,
  offered: Promise<Offer>,
  signal: AbortSignal,
): Promise<Greeting> {
  const { greeting, outcome } = probe;
  if (outcome.kind === "exited") return conclude(options, probe);
  if (!greeting) return settle(await offered, outcome);
  if (options.refusal) return greeting;
  const offer = await Promise.race([offered, pause(otherAnswerMs, signal)]);
  // Without an answer, a slow program may still become legacy.
  if (!wasRejected(offer) && options.mayRestart?.()) throw new AnsweredBoth();
  return offer && "greeting" in offer ? asLegacy(offer.greeting) : greeting;
}

/** `initialize` was answered, and the probe, which was sent first, is pending. */
async function afterOffer(
  options: HandshakeOptions,
  offered: Greeting,
  probe: Promise<Probe>,
  signal: AbortSignal,
): Promise<Greeting> {
  if (options.refusal) return offered;
  const late = await Promise.race([probe, pause(otherAnswerMs, signal)]);
  if (late?.outcome.kind === "exited") return conclude(options, late);
  if (!late?.greeting) return late ? settle({ greeting: offered }, late.outcome) : offered;
  if (options.mayRestart?.()) throw new AnsweredBoth();
  return asLegacy(offered);
}

/** How long the answer to the other request may take once one is there: the program has read both. */
const otherAnswerMs = 1_000;

function asLegacy(offered: Greeting): Greeting {
  return { ...offered, basis: "answer", remembered: "modern" };
}

/** True if the server is still there and said no. */
function wasRejected(offer: Offer | undefined): boolean {
  return offer !== undefined && "error" in offer && !isPlugboardError(offer.error, "server-exited");
}

function settle(offered: Offer, outcome: ProbeOutcome): Greeting {
  if (!("greeting" in offered)) throw offered.error;
  return outcome.kind === "refused" ? { ...offered.greeting, basis: "answer" } : offered.greeting;
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

/** Resolves when `initialize` is due. A program that has not printed anything may still be starting. */
async function untilDue(
  { plan, spokeAt, isInstalling }: HandshakeOptions,
  afterMs: number,
  signal: AbortSignal,
): Promise<undefined> {
  let startedAt = performance.now();
  let launcherAt: number | undefined;
  const { whileSilentMs = afterMs } = plan;
  for (;;) {
    const now = performance.now();
    const spoken = spokeAt?.();
    if (isInstalling?.()) [startedAt, launcherAt] = [now, spoken];
    const lastAt = spoken === launcherAt ? undefined : spoken;
    const dueAt = Math.min(
      startedAt + whileSilentMs,
      lastAt === undefined ? Infinity : Math.max(lastAt, startedAt) + afterMs,
    );
    if (now >= dueAt) return undefined;
    // Words that come meanwhile make it due in as long a time, so it is not too late to look at them then.
    await pause(Math.min(dueAt - now, afterMs), signal);
  }
}

/** Never settles after an abort: the requests it races with reject then, with the reason that matters. */
function pause(ms: number, signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  });
}
