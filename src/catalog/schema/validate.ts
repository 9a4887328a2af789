import { createChecks } from "./check/checks.ts";
import { Exhausted, Run, validationLimits, type Check, type Finding, type Mistake } from "./run.ts";

export type { Mistake } from "./run.ts";

/** Empty means valid. Never throws, never runs longer than its budget, and never names more than twenty mistakes. */
export type Validator = (value: unknown) => Mistake[];

/**
 * Nothing happens here but a closure: the schema is read when the first value comes, and each part of it when a value
 * first reaches that part. Give it only schemas that `guardSchema` let through; others are checked as far as they go.
 */
export function createValidator(schema: unknown): Validator {
  const find = createFinder(schema);
  return (value) => {
    const findings = find(value);
    return findings.length === 0 ? [] : findings.map(({ mistake }) => mistake);
  };
}

/** Like a validator, but for code that acts on what was found instead of showing it. */
export function createFinder(schema: unknown): (value: unknown) => Finding[] {
  let check: Check | undefined;
  return (value) => {
    const quiet = new Run(true, validationLimits.steps);
    try {
      check ??= createChecks(schema);
      if (check(value, quiet)) return [];
    } catch (error) {
      return [tooMuch(error)];
    }
    return explain(check, value, quiet.steps);
  };
}

/** The quick answer was no; a second run says why, with what the first one left of the budget. */
function explain(check: Check, value: unknown, steps: number): Finding[] {
  const run = new Run(false, steps);
  try {
    check(value, run);
  } catch (error) {
    if (!(error instanceof Exhausted)) return [tooMuch(error)];
  }
  if (run.findings.length > 0) return run.findings;
  return [whole("does not match the schema, and saying why would take too long")];
}

function tooMuch(error: unknown): Finding {
  const isDeep = error instanceof RangeError || (error instanceof Exhausted && error.kind === "deep");
  if (isDeep) return whole("is nested too deeply to be checked against this schema");
  if (error instanceof Exhausted) return whole("cannot be checked: the schema is too costly for this value");
  throw error;
}

function whole(message: string): Finding {
  return { mistake: { path: "", message }, at: [], weight: 1 };
}
