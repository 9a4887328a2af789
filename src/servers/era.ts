import { isModernRevision } from "./rpc/revisions.ts";

/** Which revisions belong to which is said in `rpc/revisions.ts`. */
export type Era = "modern" | "legacy";

/** What we know about a server from earlier connections. */
export interface EraMemory {
  era: Era;
  /**
   * What the verdict rests on. An `answer` or an `exit` on the probe is firm. `silence` may only mean that the server
   * was slow: it is probed once more, with more patience, before it is believed for good.
   */
  basis: "answer" | "exit" | "silence";
  /** How often silence has been waited out. */
  silences: number;
}

export interface EraPlan {
  /** Ask `server/discover`. */
  probe: boolean;
  /** Offer `initialize`: at once (0), after this much silence on the probe, or never. */
  initializeAfterMs: number | undefined;
}

const probeMs = 2_000;
const patientProbeMs = 8_000;
const silencesUntilBelieved = 2;

/**
 * How to begin. Over stdio both questions may lie in the pipe at once: a server reads them in order, so one that is
 * slow to start still answers `server/discover` first, and only one that ignores it is found legacy by its answer to
 * `initialize`. That is why the deadline may be short even for launchers that first download the server.
 */
export function planEra(pin: "auto" | Era | undefined, memory: EraMemory | undefined): EraPlan {
  if (pin === "modern") return { probe: true, initializeAfterMs: undefined };
  if (pin === "legacy") return { probe: false, initializeAfterMs: 0 };
  if (!memory) return { probe: true, initializeAfterMs: probeMs };
  if (memory.era === "modern") return { probe: true, initializeAfterMs: patientProbeMs };
  const isFirm = memory.basis !== "silence" || memory.silences >= silencesUntilBelieved;
  return isFirm ? { probe: false, initializeAfterMs: 0 } : { probe: true, initializeAfterMs: patientProbeMs };
}

export type ProbeOutcome =
  /** A usable discover result. */
  | { kind: "modern" }
  /** An error answer, or a result that is no discover result. */
  | { kind: "refused"; code?: number; supported?: readonly string[] }
  | { kind: "exited" }
  /** `initialize` was answered while the probe was not. */
  | { kind: "silent" };

export type EraVerdict =
  | { era: Era; basis: EraMemory["basis"] }
  /** The server speaks a modern revision, but none that we share. */
  | { era: "none"; supported: readonly string[] };

const unsupportedVersion = -32_022;
const methodNotFound = -32_601;

/** What an outcome proves. Only the recognised modern error keeps us from falling back; no other code is evidence. */
export function judgeProbe(outcome: ProbeOutcome): EraVerdict {
  switch (outcome.kind) {
    case "modern":
      return { era: "modern", basis: "answer" };
    case "exited":
      return { era: "legacy", basis: "exit" };
    case "silent":
      return { era: "legacy", basis: "silence" };
    case "refused": {
      const { code, supported = [] } = outcome;
      const isModernOnly = code === unsupportedVersion && supported.some(isModernRevision);
      return isModernOnly ? { era: "none", supported } : { era: "legacy", basis: "answer" };
    }
  }
}

/** `initialize` refused with the modern error code proves the opposite of what we assumed. */
export function provesModern(code: number | undefined): boolean {
  return code === unsupportedVersion;
}

/** Nor does a server that does not know `initialize` live in the legacy era, whatever we remember. */
export function refutesLegacy(code: number): boolean {
  return provesModern(code) || code === methodNotFound;
}

/** What to remember for the next time. */
export function rememberEra(
  before: EraMemory | undefined,
  verdict: { era: Era; basis: EraMemory["basis"] },
): EraMemory {
  const silences = verdict.basis === "silence" ? (before?.silences ?? 0) + 1 : 0;
  return { ...verdict, silences };
}
