import { formatPath } from "../../config/documents/document.ts";

/** One mistake in a value, described for the person or model that wrote it. */
export interface Mistake {
  /** `filters.since`, `items[2].name`; empty for the value as a whole. */
  path: string;
  message: string;
  expected?: string;
  found?: string;
  /** The known name or allowed value that was probably meant. */
  suggestion?: string;
}

/** A mistake with details for code. */
export interface Finding {
  mistake: Mistake;
  at: readonly (string | number)[];
  /** How likely it is that the value was meant for another schema: `wrongType`, `wrongConstant`, or less. */
  weight: number;
}

export const wrongType = 100;
export const wrongConstant = 10;

/**
 * The budget of one validation. A step takes about a tenth of a microsecond, so even a hostile schema blocks the event
 * loop for at most about fifty milliseconds. Depth counts nested schemas, following references.
 */
export const validationLimits = { steps: 400_000, depth: 400, mistakes: 20 } as const;

/** The state of one validation: the remaining budget, the current path, and the findings so far. */
export class Run {
  steps: number;
  depth = 0;
  /** Quiet runs only decide if the value is valid, and stop at the first mistake. */
  quiet: boolean;
  readonly path: (string | number)[] = [];
  findings: Finding[] = [];

  constructor(quiet: boolean, steps: number) {
    this.quiet = quiet;
    this.steps = steps;
  }

  spend(steps: number): void {
    this.steps -= steps;
    if (this.steps < 0) throw new Exhausted("costly");
  }

  enter(): void {
    this.spend(1);
    if (++this.depth > validationLimits.depth) throw new Exhausted("deep");
  }

  /** True after one failure in a quiet run, or after twenty mistakes otherwise. */
  get hasEnough(): boolean {
    return this.quiet || this.findings.length >= validationLimits.mistakes;
  }

  /** Always false, so that a check can end with it. */
  fail(message: string, details: Details = {}): false {
    if (this.hasEnough) return false;
    const { member, weight = 1, ...rest } = details;
    const at = member === undefined ? [...this.path] : [...this.path, member];
    this.findings.push({ mistake: { path: formatPath(at), message, ...rest }, at, weight });
    return false;
  }

  /** Runs `look` without recording mistakes. */
  silently<T>(look: () => T): T {
    const before = this.quiet;
    this.quiet = true;
    try {
      return look();
    } finally {
      this.quiet = before;
    }
  }

  /** Runs `check` and returns its findings, without adding them to those of the run. */
  apart(check: () => boolean): Finding[] {
    const before = this.findings;
    this.findings = [];
    try {
      check();
      return this.findings;
    } finally {
      this.findings = before;
    }
  }
}

interface Details extends Omit<Mistake, "path" | "message"> {
  /** The property or item that is wrong, if it is not the value itself. */
  member?: string | number;
  weight?: number;
}

/** Thrown inside a validation and always caught by its validator. */
export class Exhausted extends Error {
  readonly kind: "costly" | "deep";
  constructor(kind: "costly" | "deep") {
    super(kind);
    this.kind = kind;
  }
}

/** Returns true if a value satisfies a schema or one of its keywords. */
export type Check = (value: unknown, run: Run) => boolean;

/** Quiet runs stop at the first failure; others collect every mistake. */
export function every(checks: readonly Check[]): Check {
  const [only] = checks;
  if (only !== undefined && checks.length === 1) return only;
  return (value, run) => {
    let holds = true;
    for (const check of checks) {
      if (check(value, run)) continue;
      if (run.hasEnough) return false;
      holds = false;
    }
    return holds;
  };
}
