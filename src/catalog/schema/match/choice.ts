import { isRecord } from "../../../lib/record.ts";
import { referenceIn, type Parts } from "../parts.ts";
import { createPlan, type Alternatives, type Choice, type Plan } from "./plan.ts";

export function alternativesOf(schemas: readonly unknown[], parts: Parts): Alternatives {
  const branches = schemas.map((schema) => createPlan(schema, parts));
  return { branches, choice: schemas.length < 2 ? undefined : choiceOf(schemas, branches, parts) };
}

/** Untagged branches have to be tried for every tag, so with more of them the tags are of little use. */
const maxUntagged = 5;

/** Finds a member, such as `kind` or `type`, that most branches require to be one of a few strings. */
function choiceOf(schemas: readonly unknown[], branches: readonly Plan[], parts: Parts): Choice | undefined {
  const resolved = schemas.map((schema) => parts.follow(schema));
  const name = tagName(resolved.find((schema) => tagName(schema) !== undefined));
  if (name === undefined) return undefined;
  const byTag = new Map<unknown, Plan[]>();
  const untagged: Plan[] = [];
  for (const [index, branch] of branches.entries()) {
    const tags = tagsOf(resolved[index], name);
    if (tags === undefined) {
      if (untagged.push(branch) > maxUntagged) return undefined;
      for (const list of byTag.values()) list.push(branch);
    }
    for (const tag of tags ?? []) {
      const list = byTag.get(tag);
      if (list === undefined) byTag.set(tag, [...untagged, branch]);
      else list.push(branch);
    }
  }
  return { name, untagged, byTag };
}

function tagName(schema: unknown): string | undefined {
  return requiredNames(schema).find(
    (name) => !(name in Object.prototype) && tagsOf(schema, name) !== undefined,
  );
}

function requiredNames(schema: unknown): string[] {
  if (!isRecord(schema) || !Array.isArray(schema["required"])) return [];
  return schema["required"].slice(0, 20).filter((name) => typeof name === "string");
}

/** The strings that a schema allows in a required member; undefined if it allows other values. */
function tagsOf(schema: unknown, name: string): ReadonlySet<string> | undefined {
  if (!isRecord(schema) || !isRecord(schema["properties"])) return undefined;
  if (!requiredNames(schema).includes(name) || !Object.hasOwn(schema["properties"], name)) return undefined;
  const member = schema["properties"][name];
  // Old drafts ignore keywords beside a reference.
  if (!isRecord(member) || referenceIn(member) !== undefined) return undefined;
  const allowed: unknown = "const" in member ? [member["const"]] : member["enum"];
  if (!Array.isArray(allowed) || !allowed.every((tag) => typeof tag === "string")) return undefined;
  return new Set(allowed);
}
