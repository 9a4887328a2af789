import type { LastFailure } from "../config.ts";
import type { ErrorCode } from "../index.ts";
import { shellWord } from "../lib/argv.ts";
import { ageWords } from "./views/age.ts";
import { safe } from "./terminal/print.ts";
import type { Line } from "./terminal/live-area.ts";
import { cutText, displayWidth } from "./terminal/text-width.ts";
import { findingLines } from "./views/finding.ts";
import type { Finding } from "./views/finding.ts";

/** How long a list of all servers does without one that failed. */
const leftOutMs = 600_000;

/** These come at once, and what they complain about is repaired outside of the configuration: asking again costs nothing. */
const immediate: ReadonlySet<ErrorCode> = new Set([
  "spawn-failed",
  "value-missing",
  "config-invalid",
  "policy-denied",
  "untrusted",
]);

/** Recent failures of servers whose list is wanted: a list does not wait for these servers. */
export function recentFailures(
  failures: ReadonlyMap<string, LastFailure>,
  kinds: readonly string[],
  now: number,
): Map<string, LastFailure> {
  const isMeant = ({ at, code, lists }: LastFailure) =>
    at <= now &&
    now - at < leftOutMs &&
    !immediate.has(code) &&
    (lists === undefined || lists.some((list) => kinds.includes(list)));
  return new Map([...failures].filter(([, failure]) => isMeant(failure)));
}

export function leftOutFinding(name: string, { at, code, message, hint }: LastFailure, now: number): Finding {
  const isLogin = code === "auth-required" || code === "registration-required";
  return {
    level: "problem",
    about: name,
    message: `left out, failed ${ageWords(now - at)}: ${message}`,
    code,
    ...(isLogin && { advice: hint.replaceAll("<server>", shellWord(name)) }),
  };
}

/** One line each, because every command says them again; `plugboard list` says more. */
export function leftOutLines(finding: Finding, width: number): Line[] {
  const room = Math.max(20, width - displayWidth(safe(finding.about)) - 4);
  return findingLines({ ...finding, message: cutText(safe(finding.message), room) }, width);
}

export const leftOutNote = `Servers that failed in the last ${leftOutMs / 60_000} minutes are left out: \`plugboard list\` says why, \`plugboard status\` tries them again.`;
