import type { Finding } from "../diagnose.ts";
import type { Path } from "../documents/document.ts";
import { isStricter } from "./rules.ts";
import type { Approval, ManagedApproval } from "./schema.ts";

/** Rules that never make a difference, because a pattern in the same field is always stricter. */
export function overruledRules(approval: Approval | undefined, path: Path): Finding[] {
  if (typeof approval !== "object") return [];
  const { tools: modes = {}, rules = [] } = approval;
  return rules.flatMap(({ tools = "*", mode }, index): Finding[] => {
    const globs = typeof tools === "string" ? [tools] : tools;
    const isOverruled = (glob: string) =>
      [glob, "*"].some((key) => Object.hasOwn(modes, key) && modes[key] && isStricter(modes[key], mode));
    if (!globs.every(isOverruled)) return [];
    const message = `this rule never applies, because \`tools\` says something stricter about ${globs.map((glob) => `"${glob}"`).join(", ")}`;
    const suggestion = "use `default` instead of the pattern in `tools`, or remove the rule";
    return [{ severity: "warning", path: [...path, "rules", index], message, suggestion }];
  });
}

/** Rules of the policy that allow something: it cannot. A pattern may still except tools from its own `default`. */
export function uselessRules(approval: ManagedApproval | undefined): Finding[] {
  const message = "this approves nothing: the policy can only be stricter than the user";
  const at = (path: Path): Finding => ({ severity: "warning", path, message });
  if (typeof approval !== "object") return approval === "approve" ? [at(["approval"])] : [];
  return approval.default === "approve" ? [at(["approval", "default"])] : [];
}
