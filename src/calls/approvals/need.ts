import { rulingOf } from "../../config/approval/rules.ts";
import type { ApprovalRule, Ruling } from "../../config/approval/rules.ts";
import type { Conditions, MostRemembered } from "../../config/approval/schema.ts";
import { canonicalJson } from "../../lib/canonical.ts";
import { isRecord } from "../../lib/record.ts";
import type { ToolEntry } from "../../catalog/tool-entry.ts";
import type { Approvable, ApproveContext } from "../approve.ts";
import { conditionWords } from "./words.ts";

/** Why somebody has to be asked. */
export interface Need {
  because: string;
  /** The rules that want it; none if whoever calls does. */
  rules: readonly ApprovalRule[];
  /** Their conditions. */
  when: readonly Conditions[];
  /** How long the answer may be remembered, and why not longer. */
  upTo: MostRemembered;
  limit?: string;
}

interface NeedContext extends Pick<ApproveContext, "fields" | "otherwise"> {
  /** True for a server that the configuration calls `untrusted`. */
  isUntrusted: boolean;
}

/** What is to be done about a call. `harmless` holds for as long as its server lists the tool like this. */
export function needOf(
  { tool, args }: Pick<Approvable, "tool" | "args">,
  { fields, otherwise, isUntrusted }: NeedContext,
): Need | "approved" | "harmless" | { denied: ApprovalRule | undefined } {
  const ruling = rulingOf(tool, args, fields, otherwise);
  const { mode, rules, managed } = ruling;
  if (mode === "approve") return "approved";
  if (mode === "deny") return { denied: rules[0] };
  const wantsManaged = managed && managedNeed(managed, tool, isUntrusted);
  const because = mode === "prompt" ? promptWords(rules) : (risk(tool.annotations) ?? wantsManaged);
  if (because === undefined) return "harmless";
  if (wantsManaged === undefined) return { because, rules, when: conditionsOf(rules), upTo: "always" };
  const asking = [...new Set([...(managed?.rules ?? []), ...rules])];
  const upTo = leastRemembered(managed?.rules ?? []);
  const limit =
    upTo === "never"
      ? "the managed policy requires the question every time"
      : "the managed policy requires the question in every session";
  return { because, rules: asking, when: conditionsOf(asking), upTo, limit };
}

/** Why the administrator wants a question. The user's corrections of annotations do not count for that. */
function managedNeed(
  { mode, rules }: Ruling,
  { raw, annotations }: ToolEntry,
  isUntrusted: boolean,
): string | undefined {
  if (mode === "prompt") return promptWords(rules);
  if (mode !== "auto") return undefined;
  return risk(annotations) ?? risk(!isUntrusted && isRecord(raw["annotations"]) ? raw["annotations"] : {});
}

/** Why `auto` asks. It allows only tools annotated as read-only, or as neither destructive nor open-world. */
function risk(annotations: Record<string, unknown>): string | undefined {
  if (annotations["readOnlyHint"] === true) return undefined;
  if (annotations["destructiveHint"] === false && annotations["openWorldHint"] === false) return undefined;
  return annotations["destructiveHint"] === false ? "it reaches external systems" : "it may change something";
}

function promptWords([rule]: readonly ApprovalRule[]): string {
  if (!rule) return "its caller requires approval";
  const by =
    rule.owner === "policy" ? "the managed policy requires approval" : "the configuration requires approval";
  return rule.when ? `${by} where ${conditionWords(rule.when)}` : by;
}

/** The conditions of several rules, in an order that does not depend on theirs. */
function conditionsOf(rules: readonly ApprovalRule[]): readonly Conditions[] {
  const all = rules.flatMap(({ when }) => (when ? [when] : []));
  if (all.length < 2) return all;
  const byText = new Map(all.map((when) => [canonicalJson(when), when]));
  return [...byText].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, when]) => when);
}

function leastRemembered(rules: readonly ApprovalRule[]): MostRemembered {
  const order: MostRemembered[] = ["never", "session", "always"];
  return order.find((one) => rules.some(({ remember }) => remember === one)) ?? "session";
}
