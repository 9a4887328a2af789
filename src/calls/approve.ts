import { PlugboardError } from "../errors.ts";
import { ruleOrigin } from "../config/approval/origin.ts";
import type { ApprovalFields, ApprovalRule } from "../config/approval/rules.ts";
import type { Mode } from "../config/approval/schema.ts";
import { formatPath } from "../config/documents/document.ts";
import { joinArgv } from "../lib/argv.ts";
import { positionOf } from "../config/model.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import { ask } from "./approvals/ask.ts";
import { identified } from "./approvals/identified.ts";
import { needOf } from "./approvals/need.ts";
import type { Need } from "./approvals/need.ts";
import { subjectOf } from "./approvals/record.ts";
import type { TargetIdentity } from "../servers/target-identity.ts";
import type { Call } from "./call-log.ts";
import { definitionHash } from "./queue/question.ts";
import type { CallContext, PrepareOptions } from "./send.ts";

export interface ApproveContext {
  fields: ApprovalFields;
  /** The mode if none is configured: `auto` asks depending on annotations, `approve` leaves it to the caller. */
  otherwise: Mode;
  isUntrusted: boolean;
  context: Pick<CallContext, "catalog" | "questions" | "queue" | "scope" | "approvals">;
  /** Aborted when the call is given up. Most calls ask nobody and need none. */
  signal(): AbortSignal;
  /** How the call waits if nobody is there to ask. */
  waiting: Pick<PrepareOptions, "exact" | "parking" | "onProgress" | "approve">;
}

/** The call that is judged. */
export interface Approvable {
  tool: ToolEntry;
  args: Record<string, unknown>;
  call: Pick<Call, "id" | "route">;
  /** What runs or is contacted, where that is known already. */
  target?: TargetIdentity | undefined;
  /** Headers of this call only. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** What allowed a call: somebody who was shown the tool, their earlier answer, or what its server just listed. */
export interface Verdict {
  tool: ToolEntry;
  by: "answer" | "remembered" | "annotations";
  /** What was to run or to be contacted. */
  target?: TargetIdentity | undefined;
  /** The answer came later, and is good only for the tool exactly as its server defined it then. */
  isExact?: boolean;
}

/** True if the call may be sent without asking anybody, as far as that is known at once. Throws if it is denied. */
export function isAllowed(asked: Approvable, context: ApproveContext): boolean {
  const need = judge(asked, context);
  if (need === "approved") return true;
  const { catalog, scope, approvals } = context.context;
  if (need !== "harmless" && !(approvals.isFresh && isRemembered(asked, need, context))) return false;
  // Neither annotations nor an earlier answer count once the server says that its tools changed.
  return catalog.known(asked.tool.id, scope) === asked.tool;
}

/** Finds out whether the call is allowed and asks if need be; throws if it is not, or if there is nobody to ask. */
export async function approve(given: Approvable, context: ApproveContext): Promise<Verdict> {
  const need = judge(given, context);
  const { catalog, scope, approvals } = context.context;
  let asked = given;
  if (typeof need === "object") {
    await approvals.read();
    if (approvals.hasAny) asked = await identified(asked, context);
    if (!isRemembered(asked, need, context)) return ask(asked, need, context);
  }
  if (catalog.known(asked.tool.id, scope) !== asked.tool) return approveAsListed(asked, context);
  const { tool, target } = asked;
  return { tool, target, by: need === "harmless" ? "annotations" : "remembered" };
}

async function approveAsListed(asked: Approvable, context: ApproveContext): Promise<Verdict> {
  const { catalog, scope, approvals } = context.context;
  const now = await catalog.reread(asked.tool, scope, context.signal());
  if (!now) return ask(asked, unlisted, context);
  const listed = { ...asked, tool: now };
  const need = judge(listed, context);
  if (need === "approved" || need === "harmless") return { tool: now, by: "annotations" };
  await approvals.read();
  if (!approvals.hasAny) return ask(listed, need, context);
  const known = await identified(listed, context);
  if (!isRemembered(known, need, context)) return ask(known, need, context);
  return { tool: now, target: known.target, by: "remembered" };
}

const unlisted: Need = {
  because: "its server says that its tools changed, and does not list them",
  rules: [],
  when: [],
  upTo: "never",
  limit: "its server does not list it",
};

/** What would happen to a call: it is made, somebody is asked about it, or it is denied. */
export type CallCheck = { outcome: "approved" } | { outcome: "asked" | "denied"; because: string };

/** Judges a call as `approve` would, and asks nobody. */
export async function checkApproval(asked: Approvable, context: ApproveContext): Promise<CallCheck> {
  const need = needOf(asked, context);
  if (typeof need !== "object") return { outcome: "approved" };
  if ("denied" in need) {
    const { message } = denied(asked, need.denied);
    return { outcome: "denied", because: message };
  }
  const { approvals } = context.context;
  await approvals.read();
  // What cannot be found out now is asked about.
  const known = approvals.hasAny ? await identified(asked, context).catch(() => asked) : asked;
  if (isRemembered(known, need, context)) return { outcome: "approved" };
  return { outcome: "asked", because: need.because };
}

/** True if an earlier verdict still allows the call of a tool that may have changed since. */
export function stillAllows(
  verdict: Verdict | undefined,
  asked: Approvable,
  context: ApproveContext,
): boolean {
  if (!verdict) return false;
  const need = needOf(asked, context);
  if (typeof need === "object" && "denied" in need) return false;
  if (verdict.target && !(asked.target && verdict.target.equals(asked.target))) return false;
  if (verdict.by === "answer")
    return verdict.isExact ? isSameTool(verdict.tool, asked.tool) : isShownAlike(verdict.tool, asked.tool);
  if (verdict.by === "annotations") return need === "harmless";
  return typeof need === "object" && isRemembered(asked, need, context);
}

/** True if a question about one tool shows the same as a question about the other. */
function isShownAlike(one: ToolEntry, other: ToolEntry): boolean {
  const shown = ({ name, title, annotations }: ToolEntry) => JSON.stringify([name, title, annotations]);
  return one === other || shown(one) === shown(other);
}

function isSameTool(one: ToolEntry, other: ToolEntry): boolean {
  return one === other || (isShownAlike(one, other) && definitionHash(one) === definitionHash(other));
}

function judge(asked: Approvable, context: ApproveContext): Need | "approved" | "harmless" {
  const need = needOf(asked, context);
  if (typeof need === "object" && "denied" in need) throw denied(asked, need.denied);
  return need;
}

function isRemembered(asked: Approvable, need: Need, { context }: ApproveContext): boolean {
  const recalled = context.approvals.recall(subjectOf(asked, need.when), need.upTo);
  return recalled !== undefined && !recalled.changed;
}

function denied({ tool: { server, id, name }, call }: Approvable, rule: ApprovalRule | undefined) {
  const by = rule?.owner === "policy" ? "the managed policy" : "the configuration";
  const origin = rule && ruleOrigin(rule, server, call.route.loaded);
  return new PlugboardError(
    "approval-denied",
    `The call of ${name} on "${server}" was not approved: ${rule ? by : "its caller"} denies it.`,
    {
      server,
      tool: id,
      ...(rule &&
        origin && {
          data: { rule: formatPath(rule.path), ...positionOf(origin) },
          hint: `Run \`${joinArgv(["plugboard", "explain", id])}\` to see the rule.`,
        }),
    },
  );
}
