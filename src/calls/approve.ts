import { PlugboardError, isPlugboardError } from "../errors.ts";
import type { Settings } from "../config/schema.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import { matchesGlob } from "../lib/glob.ts";
import type { Call } from "./call-log.ts";
import type { CallContext } from "./send.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";

type Mode = "approve" | "auto" | "prompt" | "deny";

export interface ApproveContext {
  config: ServerConfig;
  settings: Settings;
  /** The mode if none is configured: `auto` asks depending on annotations, `approve` leaves it to the caller. */
  otherwise: Mode;
  context: Pick<CallContext, "questions" | "scope" | "keyOf">;
  signal: AbortSignal | undefined;
}

/** Allows the call (returns undefined), asks for approval, or throws. Throws too if there is nobody to ask. */
export function approve(
  tool: ToolEntry,
  args: Record<string, unknown>,
  call: Pick<Call, "id" | "trace">,
  context: ApproveContext,
): Promise<void> | undefined {
  const mode = modeOf(tool, context);
  if (mode === "approve") return undefined;
  if (mode === "deny") throw refused(tool, "the configuration denies it");
  const need = mode === "auto" ? risk(tool) : "the configuration requires approval";
  return need === undefined ? undefined : ask(tool, args, need, call, context);
}

export function assertNotDenied(tool: ToolEntry, config: ServerConfig, settings: Settings): void {
  if (modeOf(tool, { config, settings, otherwise: "approve" }) === "deny")
    throw refused(tool, "config denies it");
}

async function ask(
  tool: ToolEntry,
  args: Record<string, unknown>,
  need: string,
  call: Pick<Call, "id" | "trace">,
  { context, signal }: ApproveContext,
): Promise<void> {
  const { questions, scope, keyOf } = context;
  const { interact, caller } = scope.use;
  if (!interact?.approve) throw refused(tool, `${need}, and nobody is there to ask`);
  const { server, name, id, title, annotations } = tool;
  const stop = new AbortController();
  const { trace } = call;
  trace.cancel = (reason) => stop.abort(reason);
  const { decision, reason } = await questions
    .ask(
      {
        kind: "approve",
        id: crypto.randomUUID(),
        server,
        tool: name,
        toolId: id,
        ...(title !== undefined && { title }),
        arguments: args,
        annotations,
        because: need,
      },
      { server, caller, account: keyOf(server).account, call: call.id },
      interact.approve.bind(interact),
      signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
      (answer) => (answer.decision === "allow" ? "accepted" : "declined"),
    )
    .catch((error: unknown) => {
      if (isPlugboardError(error, "question-declined")) throw refused(tool, "nobody answered in time");
      throw error;
    });
  trace.cancel = undefined;
  if (decision !== "allow") throw refused(tool, reason ?? "it was denied");
}

/** The most specific rule applies: the server's for the tool, the server's default, the general rules, `otherwise`. */
export function modeOf(
  { name }: ToolEntry,
  { config, settings, otherwise }: Pick<ApproveContext, "config" | "settings" | "otherwise">,
): Mode {
  return ruleFor(config.approval, name) ?? ruleFor(settings.approval, name) ?? otherwise;
}

function ruleFor(rule: ServerConfig["approval"], name: string): Mode | undefined {
  if (rule === undefined || typeof rule === "string") return rule;
  const globs = Object.entries(rule.tools ?? {}).filter(([glob]) => matchesGlob(glob, name));
  // If several patterns match, the strictest applies, so a wider approval cannot override a deny.
  const strictness: Mode[] = ["deny", "prompt", "auto", "approve"];
  return strictness.find((mode) => globs.some(([, own]) => own === mode)) ?? rule.default;
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
