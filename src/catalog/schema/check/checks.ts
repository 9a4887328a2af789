import { isRecord } from "../../../lib/record.ts";
import { alternativeChecks } from "./alternatives.ts";
import { arrayChecks } from "./arrays.ts";
import { objectChecks } from "./objects.ts";
import { scalarChecks, typeCheck } from "./scalars.ts";
import { matches } from "../match/matches.ts";
import { createPlan, type Plan } from "../match/plan.ts";
import { always, annotations, referenceIn, referenceKeywords, type Parts } from "../parts.ts";
import { createReferences } from "../references.ts";
import { every, type Check } from "../run.ts";
import { unevaluatedChecks } from "../unevaluated.ts";

/** Compiles a schema to one function. Malformed and unknown keywords are ignored. */
export function createChecks(root: unknown): Check {
  const references = createReferences(root);
  const refOverrides = isRecord(root) && /draft-0[3-7]/.test(String(root["$schema"]));
  const made = new Map<object, Check>();
  const plans = new Map<object, Plan>();
  const targets = new Map<object, unknown>();

  const parts: Parts = {
    check(schema) {
      if (schema === false) return never;
      if (!isRecord(schema) || isEmpty(schema)) return always;
      let check = made.get(schema);
      if (check === undefined) made.set(schema, (check = lazily(schema)));
      return check;
    },
    plan(schema) {
      if (!isRecord(schema)) return createPlan(schema, parts);
      let plan = plans.get(schema);
      if (plan === undefined) plans.set(schema, (plan = createPlan(schema, parts)));
      return plan;
    },
    target(schema) {
      if (!targets.has(schema)) targets.set(schema, references.resolve(referenceIn(schema) ?? "#", schema));
      return targets.get(schema);
    },
    follow(schema) {
      let here = schema;
      for (let hop = 0; hop < maxHops && isRecord(here) && isPlainReference(here); hop++) {
        const target = parts.target(here);
        if (target === undefined) return here;
        here = target;
      }
      return here;
    },
    isReplaced: (schema) => refOverrides && referenceIn(schema) !== undefined,
  };

  function isPlainReference(schema: Record<string, unknown>): boolean {
    if (referenceIn(schema) === undefined) return false;
    return (
      refOverrides ||
      Object.keys(schema).every((keyword) => referenceKeywords.includes(keyword) || annotations.has(keyword))
    );
  }

  /** A quiet run uses the plan. The closures that report mistakes are created when there is one. */
  function lazily(schema: Record<string, unknown>): Check {
    let plan: Plan | undefined;
    let built: Check | undefined;
    return (value, run) => {
      if (run.quiet) return matches((plan ??= parts.plan(schema)), value, run);
      built ??= build(schema);
      run.enter();
      const holds = built(value, run);
      run.depth--;
      return holds;
    };
  }

  function build(schema: Record<string, unknown>): Check {
    const checks: Check[] = [];
    const reference = referenceIn(schema);
    if (reference !== undefined) {
      const target = parts.target(schema);
      if (target === undefined) return unresolved(reference);
      checks.push(parts.check(target));
      if (refOverrides) return every(checks);
    }
    checks.push(
      ...scalarChecks(schema),
      ...arrayChecks(schema, parts),
      ...objectChecks(schema, parts),
      ...alternativeChecks(schema, parts),
      ...unevaluatedChecks(schema, parts),
    );
    const rest = every(checks);
    const type = typeCheck(schema);
    if (type === undefined) return checks.length === 0 ? always : rest;
    if (checks.length === 0) return type;
    // A wrong type is one mistake; further findings about the value would only be noise.
    return (value, run) => type(value, run) && rest(value, run);
  }

  return parts.check(root);
}

/** Chains of references are followed this far at once, then step by step. */
const maxHops = 32;

const never: Check = (_, run) => run.fail("is not allowed here", { expected: "nothing" });

function unresolved(reference: string): Check {
  return (_, run) => run.fail(`cannot be checked: its schema refers to ${reference}, which does not exist`);
}

function isEmpty(schema: Record<string, unknown>): boolean {
  for (const _ in schema) return false;
  return true;
}
