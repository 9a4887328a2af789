import { PlugboardError, isPlugboardError } from "../errors.ts";
import type { Path } from "../config/documents/document.ts";
import type { Settings } from "../config/schema.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import type { Approval } from "../interact/interact.ts";
import type { Outcome } from "../interact/questions.ts";
import { matchesGlob } from "../lib/glob.ts";
import type { Call } from "./call-log.ts";
import type { CallContext } from "./send.ts";
import { asSent } from "./serializable.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";

type Mode = "approve" | "auto" | "prompt" | "deny";

export interface ApproveContext {
  config: ServerConfig;
  settings: Settings;
  /** The mode if none is configured: `auto` asks depending on annotations, `approve` leaves it to the caller. */
  otherwise: Mode;
  context: Pick<CallContext, "catalog" | "questions" | "scope" | "keyOf">;
  signal: AbortSignal | undefined;
}

/** What allowed a call: somebody who was shown the tool, or the annotations that its server just listed. */
export interface Verdict {
  tool: ToolEntry;
  wasAsked: boolean;
}

/** Allows the call (returns undefined), asks for approval, or throws. Throws too if there is nobody to ask. */
export function approve(
  tool: ToolEntry,
  args: Record<string, unknown>,
  call: Pick<Call, "id">,
  context: ApproveContext,
): Promise<Verdict> | undefined {
  const mode = modeOf(tool, context);
  if (mode === "approve") return undefined;
  if (mode === "deny") throw refused(tool, "the configuration denies it");
  const need = mode === "auto" ? risk(tool) : "the configuration requires approval";
  if (need !== undefined) return ask(tool, args, need, call, context);
  const { catalog, scope } = context.context;
  return catalog.known(tool.id, scope) === tool
    ? undefined
    : approveUnlessHarmless(tool, args, call, context);
}

/** The server says that its tools changed. What it said before may no longer be why nobody is asked. */
async function approveUnlessHarmless(
  tool: ToolEntry,
  args: Record<string, unknown>,
  call: Pick<Call, "id">,
  context: ApproveContext,
): Promise<Verdict> {
  const { catalog, scope } = context.context;
  const now = await catalog.reread(tool, scope, context.signal);
  if (!now)
    return ask(tool, args, "its server says that its tools changed, and does not list them", call, context);
  const need = risk(now);
  return need === undefined ? { tool: now, wasAsked: false } : ask(now, args, need, call, context);
}

/** True if an earlier verdict still allows the call of a tool that may have changed since. */
export function stillAllows(verdict: Verdict | undefined, tool: ToolEntry, context: ApproveContext): boolean {
  if (!verdict) return false;
  const mode = modeOf(tool, context);
  if (verdict.wasAsked) return mode !== "deny" && isShownAlike(verdict.tool, tool);
  return mode === "auto" && risk(tool) === undefined;
}

/** True if a question about one tool shows the same as a question about the other. */
function isShownAlike(one: ToolEntry, other: ToolEntry): boolean {
  const shown = ({ name, title, annotations }: ToolEntry) => JSON.stringify([name, title, annotations]);
  return one === other || shown(one) === shown(other);
}

async function ask(
  tool: ToolEntry,
  args: Record<string, unknown>,
  need: string,
  call: Pick<Call, "id">,
  { context, signal }: ApproveContext,
): Promise<Verdict> {
  const { questions, scope, keyOf } = context;
  const { interact, caller } = scope.use;
  if (!interact?.approve) throw refused(tool, `${need}, and nobody is there to ask`);
  const { server, name, id, title, annotations } = tool;
  const answer = await questions
    .ask(
      {
        kind: "approve",
        id: crypto.randomUUID(),
        server,
        tool: name,
        toolId: id,
        ...(title !== undefined && { title }),
        // A copy: what somebody does with the question must not change the call.
        arguments: asSent(args),
        annotations,
        because: need,
        remember: {},
      },
      { server, caller, account: keyOf(server).account, call: call.id },
      interact.approve.bind(interact),
      signal,
      ({ decision }: Approval): Outcome => ({ outcome: outcomes[decision], decision }),
      () => undefined,
    )
    .catch((error: unknown) => {
      if (isPlugboardError(error, "question-declined")) throw refused(tool, "nobody answered in time");
      throw error;
    });
  if (answer.decision === "cancel") throw turnCancelled(tool, answer.reason);
  if (answer.decision === "deny") throw refused(tool, answer.reason ?? "it was denied");
  return { tool, wasAsked: true };
}

const outcomes = { allow: "accepted", deny: "declined", cancel: "cancelled" } as const;

/** The most specific rule applies: the server's for the tool, the server's default, the general rules, `otherwise`. */
export function modeOf(
  { name }: ToolEntry,
  { config, settings, otherwise }: Pick<ApproveContext, "config" | "settings" | "otherwise">,
): Mode {
  return (approvalRule(config.approval, name) ?? approvalRule(settings.approval, name))?.mode ?? otherwise;
}

/** The rule of an `approval` field that applies to a tool, and where it is: `approval.tools["delete_*"]`. */
export function approvalRule(
  approval: ServerConfig["approval"],
  name: string,
): { mode: Mode; path: Path } | undefined {
  if (approval === undefined) return undefined;
  if (typeof approval === "string") return { mode: approval, path: ["approval"] };
  const globs = Object.entries(approval.tools ?? {}).filter(([glob]) => matchesGlob(glob, name));
  // If several patterns match, the strictest applies, so a wider approval cannot override a deny.
  const strictness: Mode[] = ["deny", "prompt", "auto", "approve"];
  for (const mode of strictness) {
    const match = globs.find(([, own]) => own === mode);
    if (match) return { mode, path: ["approval", "tools", match[0]] };
  }
  return approval.default && { mode: approval.default, path: ["approval", "default"] };
}

/** Why `auto` asks. It allows only tools annotated as read-only, or as neither destructive nor open-world. */
function risk({ annotations }: ToolEntry): string | undefined {
  if (annotations["readOnlyHint"] === true) return undefined;
  if (annotations["destructiveHint"] === false && annotations["openWorldHint"] === false) return undefined;
  return annotations["destructiveHint"] === false ? "it reaches external systems" : "it may change something";
}

function refused({ server, id, name }: ToolEntry, why: string): PlugboardError {
  return new PlugboardError(
    "approval-denied",
    `The call of ${name} on "${server}" was not approved: ${why}.`,
    { server, tool: id },
  );
}

/** Whoever was asked wants nothing more to happen in this turn. */
function turnCancelled({ server, id, name }: ToolEntry, reason: string | undefined): PlugboardError {
  const why = reason === undefined ? "" : `: ${reason}`;
  return new PlugboardError("call-cancelled", `The call of ${name} on "${server}" was cancelled${why}.`, {
    server,
    tool: id,
    executed: "no",
    data: { reason: "turn-cancelled" },
    hint: "Whoever was asked ended the turn: make no further calls until they say something.",
  });
}
