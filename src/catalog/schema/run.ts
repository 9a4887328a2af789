import { formatPath } from "../../config/documents/document.ts";

/** One thing that is wrong with a value, told to the person or the model that wrote it. */
export interface Mistake {
  /** `filters.since`, `items[2].name`; empty for the value as a whole. */
  path: string;
  message: string;
  expected?: string;
  found?: string;
  /** The known name or allowed value that was probably meant. */
  suggestion?: string;
}

/** A mistake with what the code needs to know about it. */
export interface Finding {
  mistake: Mistake;
  at: readonly (string | number)[];
  /** How surely the value was meant for another schema: `wrongType`, `wrongConstant`, or a slip. */
  weight: number;
}

export const wrongType = 100;
export const wrongConstant = 10;

/**
 * What one validation may cost. A step is about a tenth of a microsecond, so that even a hostile schema holds the
 * event loop for some fifty milliseconds at most. Depth counts schemas inside schemas, with references followed.
 */
export const validationLimits = { steps: 400_000, depth: 400, mistakes: 20 } as const;

/** One validation under way: what is left to spend, where we are, and what was found so far. */
export class Run {
  steps: number;
  depth = 0;
  /** Quiet runs only want to know whether the value is valid, and stop at the first mistake. */
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

  /** Quiet runs have enough after one failure, loud ones after twenty mistakes. */
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

  /** What `look` finds, without a word about mistakes. */
  silently<T>(look: () => T): T {
    const before = this.quiet;
    this.quiet = true;
    try {
      return look();
    } finally {
      this.quiet = before;
    }
  }

  /** What `check` complains about, kept apart from what was found so far. */
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
  /** The property or item that is meant, when it is not the value itself. */
  member?: string | number;
  weight?: number;
}

/** Thrown inside a validation and caught by its validator; nobody else sees it. */
export class Exhausted extends Error {
  readonly kind: "costly" | "deep";
  constructor(kind: "costly" | "deep") {
    super(kind);
    this.kind = kind;
  }
}

/** Whether a value satisfies one schema, or one keyword of it. */
export type Check = (value: unknown, run: Run) => boolean;

/** Quiet runs stop at the first failure, loud ones collect every mistake. */
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
