import { pinProblem } from "../catalog/pin-problem.ts";
import type { ServerPins } from "../config/lock/pins.ts";

interface Said {
  instructions?: string;
  instructionsWithheld?: string;
}

/** What a server says of itself, without instructions that are not the pinned ones. */
export function withheld<T extends Said>(said: T, pins: ServerPins | undefined): T {
  if (!pins || said.instructions === undefined) return said;
  const problem = pinProblem(pins, "instructions", "", said.instructions);
  if (!problem) return said;
  const { instructions: _, ...rest } = said;
  return { ...rest, instructionsWithheld: problem.because } as T;
}
