import { matchesAny, matchesGlob } from "../../lib/glob.ts";
import { plainName } from "../policy/rules.ts";
import type { Path } from "../documents/document.ts";
import { holds } from "./conditions.ts";
import type { Approval, Conditions, ManagedApproval, Mode, MostRemembered } from "./schema.ts";

/** A rule that applies to a call. */
export interface ApprovalRule {
  mode: Mode;
  /** Whose `approval` field it is in. */
  owner: "server" | "settings" | "policy";
  /** Where it is: `approval.tools["delete_*"]`. */
  path: Path;
  /** What it says about the arguments. */
  when?: Conditions | undefined;
  /** How long an answer to its question may be remembered. */
  remember: MostRemembered;
}

/** The `approval` fields that matter for a server. */
export interface ApprovalFields {
  server?: Approval | undefined;
  settings?: Approval | undefined;
  policy?: ManagedApproval | undefined;
}

export interface Ruling {
  mode: Mode;
  /** The rules that want this mode; none if it is the caller's. */
  rules: readonly ApprovalRule[];
  /** What the administrator wants at the least, where the policy has a rule about the call. */
  managed?: Ruling | undefined;
}

/**
 * What happens to a call. Of all that matches in one `approval` field the strictest wins; its `default` applies if nothing
 * does. The server's field comes before the general one, and that before what the caller wants. A rule that holds only
 * maybe can make this stricter, never looser, and so can the policy.
 */
export function rulingOf(
  tool: { server: string; name: string },
  args: Record<string, unknown>,
  { server, settings, policy }: ApprovalFields,
  otherwise: Mode,
): Ruling {
  const own = server ?? settings;
  if (own === undefined && policy === undefined) return { mode: otherwise, rules: noRules };
  // Most users write one word.
  if (policy === undefined && typeof own === "string") {
    const owner = server === undefined ? "settings" : "server";
    return { mode: own, rules: [{ mode: own, owner, path: ["approval"], remember: "always" }] };
  }
  const levels = [matchesIn("server", server, tool, args), matchesIn("settings", settings, tool, args)];
  const user = decide(levels, otherwise);
  const managed = policy && decide([matchesIn("policy", policy, tool, args)], "approve");
  if (!managed || managed.rules.length === 0) return user;
  if (isStricter(managed.mode, user.mode)) return { ...managed, managed };
  const isSame = managed.mode === user.mode;
  return { mode: user.mode, rules: isSame ? [...managed.rules, ...user.rules] : user.rules, managed };
}

/** True if a rule about this tool looks at the arguments. */
export function looksAtArguments(
  tool: { server: string; name: string },
  { server, settings, policy }: ApprovalFields,
): boolean {
  return hasCondition(server, tool) || hasCondition(settings, tool) || hasCondition(policy, tool);
}

function hasCondition(
  field: Approval | ManagedApproval | undefined,
  tool: { server: string; name: string },
): boolean {
  if (typeof field !== "object" || field.rules === undefined) return false;
  return field.rules.some((rule) => rule.when && isAbout(rule, tool));
}

/** All rules with conditions that are about a tool, whatever the arguments. */
export function conditionalRules(
  tool: { server: string; name: string },
  { server, settings, policy }: ApprovalFields,
): ApprovalRule[] {
  const fields = [["server", server] as const, ["settings", settings] as const, ["policy", policy] as const];
  return fields.flatMap(([owner, field]) => rulesIn(owner, field, tool).filter(({ when }) => when));
}

const noRules: readonly ApprovalRule[] = [];

const strictness: readonly Mode[] = ["deny", "prompt", "auto", "approve"];

export function isStricter(one: Mode, other: Mode): boolean {
  return strictness.indexOf(one) < strictness.indexOf(other);
}

interface Matches {
  sure: ApprovalRule[];
  maybe: ApprovalRule[];
  /** Applies if none is sure. */
  fallback?: ApprovalRule | undefined;
}

/** The first field that says anything for sure decides, together with all that holds maybe. */
function decide(levels: readonly Matches[], otherwise: Mode): Ruling {
  const maybe: ApprovalRule[] = [];
  for (const level of levels) {
    maybe.push(...level.maybe);
    const decisive = level.sure.length > 0 || !level.fallback ? level.sure : [level.fallback];
    if (decisive.length > 0) return strictest([...decisive, ...maybe], "approve");
  }
  return strictest(maybe, otherwise);
}

function strictest(rules: readonly ApprovalRule[], least: Mode): Ruling {
  const mode = strictness.find((one) => one === least || rules.some((rule) => rule.mode === one)) ?? least;
  return { mode, rules: rules.filter((rule) => rule.mode === mode) };
}

function matchesIn(
  owner: ApprovalRule["owner"],
  field: Approval | ManagedApproval | undefined,
  tool: { server: string; name: string },
  args: Record<string, unknown>,
): Matches {
  if (field === undefined) return { sure: [], maybe: [] };
  if (typeof field === "string")
    return {
      sure: [{ mode: field, owner, path: ["approval"], remember: mostRemembered(owner, field) }],
      maybe: [],
    };
  const sure: ApprovalRule[] = [];
  const maybe: ApprovalRule[] = [];
  for (const rule of rulesIn(owner, field, tool)) {
    const certainty = rule.when ? holds(rule.when, args) : "yes";
    if (certainty === "yes") sure.push(rule);
    else if (certainty === "maybe") maybe.push(rule);
  }
  const remember = mostRemembered(owner, field);
  const { default: mode } = field;
  const fallback = mode && { mode, owner, path: ["approval", "default"], remember };
  return { sure, maybe, fallback };
}

/** The rules of a field that are about a tool. */
function rulesIn(
  owner: ApprovalRule["owner"],
  field: Approval | ManagedApproval | undefined,
  tool: { server: string; name: string },
): ApprovalRule[] {
  if (typeof field !== "object") return [];
  const remember = mostRemembered(owner, field);
  const found: ApprovalRule[] = [];
  for (const [glob, mode] of Object.entries(field.tools ?? {}))
    if (matchesGlob(glob, tool.name))
      found.push({ mode, owner, path: ["approval", "tools", glob], remember });
  for (const [index, rule] of (field.rules ?? []).entries()) {
    if (!isAbout(rule, tool)) continue;
    const most = "remember" in rule ? (rule.remember ?? remember) : remember;
    const { mode, when } = rule;
    found.push({ mode, owner, path: ["approval", "rules", index], when, remember: most });
  }
  return found;
}

/** Answers to questions that an administrator wants are kept for the session, unless the policy says otherwise. */
function mostRemembered(owner: ApprovalRule["owner"], field: Approval | ManagedApproval): MostRemembered {
  if (owner !== "policy") return "always";
  return (typeof field === "object" && "remember" in field ? field.remember : undefined) ?? "session";
}

type Fields = Exclude<ManagedApproval, string>;
type AnyRule = NonNullable<Fields["rules"]>[number];

/** Users choose the names of servers, so those of the policy match them in every spelling. */
function isAbout(
  { servers, tools }: Pick<AnyRule, "servers" | "tools">,
  { server, name }: { server: string; name: string },
): boolean {
  if (tools !== undefined && !matchesAny(listed(tools), name)) return false;
  return servers === undefined || matchesAny(listed(servers).map(plainName), plainName(server));
}

function listed(names: string | readonly string[]): readonly string[] {
  return typeof names === "string" ? [names] : names;
}
