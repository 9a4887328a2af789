import { isRecord } from "../../../lib/record.ts";
import { alternativeChecks } from "./alternatives.ts";
import { arrayChecks } from "./arrays.ts";
import { objectChecks } from "./objects.ts";
import { scalarChecks, typeCheck } from "./scalars.ts";
import { always, referenceIn, type Parts } from "../parts.ts";
import { createReferences } from "../references.ts";
import { every, type Check } from "../run.ts";
import { unevaluatedChecks } from "../unevaluated.ts";

/** Turns a schema into one function. Keywords that are malformed or unknown check nothing. */
export function createChecks(root: unknown): Check {
  const references = createReferences(root);
  const refOverrides = isRecord(root) && /draft-0[3-7]/.test(String(root["$schema"]));
  const made = new Map<object, Check>();

  const parts: Parts = {
    check(schema) {
      if (schema === false) return never;
      if (!isRecord(schema) || isEmpty(schema)) return always;
      let check = made.get(schema);
      if (check === undefined) made.set(schema, (check = lazily(schema)));
      return check;
    },
    target: (schema) => references.resolve(referenceIn(schema) ?? "#", schema),
  };

  function lazily(schema: Record<string, unknown>): Check {
    let built: Check | undefined;
    return (value, run) => {
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
    // A value of the wrong type is one mistake; what else its schema says would only be noise.
    return (value, run) => type(value, run) && rest(value, run);
  }

  return parts.check(root);
}

const never: Check = (_, run) => run.fail("is not allowed here", { expected: "nothing" });

function unresolved(reference: string): Check {
  return (_, run) => run.fail(`cannot be checked: its schema refers to ${reference}, which is not there`);
}

function isEmpty(schema: Record<string, unknown>): boolean {
  for (const _ in schema) return false;
  return true;
}
