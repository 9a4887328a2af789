import { isModernRevision } from "./rpc/revisions.ts";

/** `rpc/revisions.ts` lists the revisions of each era. */
export type Era = "modern" | "legacy";

/** What we know about a server from earlier connections. */
export interface EraMemory {
  era: Era;
  /**
   * The evidence for the verdict. An `answer` to the probe or an `exit` is conclusive. `silence` may only mean that the
   * server was slow or had a problem of its own, so it is probed once more, with a longer timeout, before the verdict
   * is final.
   */
  basis: "answer" | "exit" | "silence";
  /** How many probes have brought nothing. */
  silences: number;
}

export interface EraPlan {
  /** Ask `server/discover`. */
  probe: boolean;
  /** When to send `initialize`: at once (0), after the probe has gone unanswered for this long, or never. */
  initializeAfterMs: number | undefined;
  /** Over a pipe: how long to wait instead while the program has printed nothing. */
  whileSilentMs?: number;
}

const probeMs = 2_000;
const patientProbeMs = 8_000;
const silencesUntilFinal = 2;

/** Plans the handshake. `patientPlan` stretches it to how long the server may take to start. */
export function planEra(pin: "auto" | Era | undefined, memory: EraMemory | undefined): EraPlan {
  if (pin === "modern") return { probe: true, initializeAfterMs: undefined };
  if (pin === "legacy") return { probe: false, initializeAfterMs: 0 };
  if (!memory) return { probe: true, initializeAfterMs: probeMs };
  if (memory.era === "modern") return { probe: true, initializeAfterMs: patientProbeMs };
  const isFirm = memory.basis !== "silence" || memory.silences >= silencesUntilFinal;
  return isFirm ? { probe: false, initializeAfterMs: 0 } : { probe: true, initializeAfterMs: patientProbeMs };
}

/**
 * Over a pipe both requests may be on their way at once, and a program that serves both eras answers both, after which
 * it is legacy. So it gets `initialize` behind an unanswered probe only if it has printed something, and has been quiet
 * since, or after half of its start deadline. A program that was silent on the probe before has had that time already.
 */
export function patientPlan(plan: EraPlan, memory: EraMemory | undefined, limitMs: number): EraPlan {
  const { initializeAfterMs } = plan;
  if (!initializeAfterMs) return plan;
  const afterMs = Math.min(initializeAfterMs, limitMs / 2);
  const wasSilent = memory?.basis === "silence";
  return { ...plan, initializeAfterMs: afterMs, whileSilentMs: wasSilent ? afterMs : limitMs / 2 };
}

export type ProbeOutcome =
  /** A usable discover result. */
  | { kind: "modern" }
  /** An error answer, or a result that is not a valid discover result. */
  | { kind: "refused"; code?: number; supported?: readonly string[] }
  /** An outage or an internal error, which is no evidence for either era. */
  | { kind: "unclear" }
  | { kind: "exited" }
  /** `initialize` was answered while the probe was not. */
  | { kind: "silent" };

export type EraVerdict =
  | { era: Era; basis: EraMemory["basis"] }
  /** The server supports only modern revisions that we do not support. */
  | { era: "none"; supported: readonly string[] };

const unsupportedVersion = -32_022;
const methodNotFound = -32_601;

/** Decides the era from the probe. Only the modern "unsupported version" error prevents the fallback to legacy. */
export function judgeProbe(outcome: ProbeOutcome): EraVerdict {
  switch (outcome.kind) {
    case "modern":
      return { era: "modern", basis: "answer" };
    case "exited":
      return { era: "legacy", basis: "exit" };
    case "silent":
    case "unclear":
      return { era: "legacy", basis: "silence" };
    case "refused": {
      const { code, supported = [] } = outcome;
      const isModernOnly = code === unsupportedVersion && supported.some(isModernRevision);
      return isModernOnly ? { era: "none", supported } : { era: "legacy", basis: "answer" };
    }
  }
}

/** True if the server rejected `initialize` with the modern error code, so it is not legacy. */
export function provesModern(code: number | undefined): boolean {
  return code === unsupportedVersion;
}

/** True if the server does not know `initialize`, so it cannot be legacy, whatever we remember. */
export function refutesLegacy(code: number): boolean {
  return provesModern(code) || code === methodNotFound;
}

/** How a server refused a request, as far as it said. */
export interface Refused {
  code?: number | undefined;
  message: string;
  /** The HTTP status. */
  status?: number | undefined;
}

/** Errors that are a modern server's own; any other refusal may come from a server that is legacy by now. */
const modernCodes: ReadonlySet<number | undefined> = new Set([
  -32_020, -32_021, -32_022, -32_601, -32_602, -32_603, -32_700,
]);
const refusals: ReadonlySet<number | undefined> = new Set([400, 404, 405, 406, 415]);

/**
 * Whether a refusal in the middle of a session means that the server is of the other era by now, upgraded or rolled
 * back. `likely` and `possible` have to be checked; only what is `possible` may have been executed.
 */
export function eraDoubt(era: Era, refused: Refused): "certain" | "likely" | "possible" | undefined {
  const { code, message, status } = refused;
  if (era === "legacy") return provesModern(code) ? "certain" : undefined;
  if (modernCodes.has(code)) return undefined;
  // A legacy server does nothing without a session, or for a revision that it does not know.
  if (/\bsession\b|\binitiali[sz]|protocol.?version/i.test(message)) return "likely";
  return refusals.has(status) ? "possible" : undefined;
}

/** What to remember for the next connection. */
export function rememberEra(
  before: EraMemory | undefined,
  verdict: { era: Era; basis: EraMemory["basis"] },
): EraMemory {
  const silences = verdict.basis === "silence" ? (before?.silences ?? 0) + 1 : 0;
  return { ...verdict, silences };
}
