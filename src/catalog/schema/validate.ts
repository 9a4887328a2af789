import { createChecks } from "./check/checks.ts";
import { Exhausted, Run, validationLimits, type Check, type Finding, type Mistake } from "./run.ts";

export type { Mistake } from "./run.ts";

/** Returns no mistakes for a valid value. Never throws, exceeds its budget, or reports more than twenty mistakes. */
export type Validator = (value: unknown) => Mistake[];

/**
 * Checks values against a JSON Schema. Cheap to call: the schema is compiled with the first value, and each part of it
 * when a value first reaches it. Schemas that are too large or too deep are checked as far as possible.
 */
export function createValidator(schema: unknown): Validator {
  const find = createFinder(schema);
  return (value) => {
    const findings = find(value);
    return findings.length === 0 ? [] : findings.map(({ mistake }) => mistake);
  };
}

/** The first mistake in a value, in words; undefined if there is none. For schemas that are used once. */
export function firstMistake(schema: unknown, value: unknown): string | undefined {
  const [mistake] = createValidator(schema)(value);
  return mistake && `${mistake.path} ${mistake.message}`.trimStart();
}

/** Like a validator, but for code that acts on the findings instead of showing them. */
export function createFinder(schema: unknown): (value: unknown) => Finding[] {
  let check: Check | undefined;
  return (value) => {
    const quiet = new Run(true, validationLimits.steps);
    try {
      check ??= createChecks(schema);
      if (check(value, quiet)) return [];
    } catch (error) {
      return [limitFinding(error)];
    }
    return explain(check, value, quiet.steps);
  };
}

/** After the quick check failed, a second run finds out why, with the rest of the budget. */
function explain(check: Check, value: unknown, steps: number): Finding[] {
  const run = new Run(false, steps);
  try {
    check(value, run);
  } catch (error) {
    if (!(error instanceof Exhausted)) return [limitFinding(error)];
  }
  if (run.findings.length > 0) return run.findings;
  return [whole("does not match the schema (finding out why would take too long)")];
}

function limitFinding(error: unknown): Finding {
  const isDeep = error instanceof RangeError || (error instanceof Exhausted && error.kind === "deep");
  if (isDeep) return whole("is nested too deeply to check against this schema");
  if (error instanceof Exhausted) return whole("cannot be checked: the schema is too costly for this value");
  throw error;
}

function whole(message: string): Finding {
  return { mistake: { path: "", message }, at: [], weight: 1 };
}
