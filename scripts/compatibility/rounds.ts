import { atOnce } from "./at-once.ts";
import { addServer, statusOf } from "./bench.ts";
import type { Bench } from "./bench.ts";
import type { Candidate } from "./servers.ts";

/** How one start went, with an empty home and the package not yet installed. */
export interface Round {
  era?: string;
  revision?: string;
  startMs?: number;
  failure?: { code: string; message: string; hint: string };
}

/** Starts each server once, from nothing. */
export async function coldRound(
  bench: Bench,
  candidates: readonly Candidate[],
  onRound: (candidate: Candidate, round: Round) => void,
): Promise<Round[]> {
  await bench.clear();
  return atOnce(candidates, async (candidate) => {
    await addServer(bench, candidate);
    const round = await firstStart(bench, candidate.name);
    onRound(candidate, round);
    return round;
  });
}

async function firstStart(bench: Bench, name: string): Promise<Round> {
  const { era, protocolVersion, startMs, error } = await statusOf(bench, name);
  if (error) {
    const { code, message, hint } = error;
    return { failure: { code, message: neutral(bench, message), hint: neutral(bench, hint ?? "") } };
  }
  return {
    ...(era && { era }),
    ...(protocolVersion && { revision: protocolVersion }),
    ...(startMs !== undefined && { startMs }),
  };
}

function neutral({ root, env }: Bench, text: string): string {
  return text.replaceAll(env["npm_config_cache"] ?? root, "…").replaceAll(root, "…");
}

/** What is wrong with how a server started: a failure that does not say what it needs, or rounds that differ. */
export function complaint({ needs }: Candidate, rounds: readonly Round[]): string | undefined {
  const outcomes = new Set(rounds.map(({ era, revision, failure }) => failure?.code ?? `${era} ${revision}`));
  if (outcomes.size > 1) return `the rounds differ: ${[...outcomes].join(", ")}`;
  for (const { failure } of rounds) {
    if (needs === undefined && failure) return `it failed: ${failure.message}`;
    if (needs !== undefined && !failure) return `it connected without ${needs}`;
    if (needs !== undefined && !failure?.message.includes(needs))
      return `its failure does not name ${needs}: ${failure?.message}`;
  }
  return undefined;
}

/** One line of what a person sees while it runs. */
export function roundWords({ era, revision, startMs, failure }: Round): string {
  return failure ? `${failure.message} → ${failure.hint}` : `${era} ${revision} in ${startMs} ms`;
}
