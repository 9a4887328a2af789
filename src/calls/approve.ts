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
  /** What the door does where config is silent: `auto` asks by annotations, `approve` leaves it to the caller. */
  otherwise: Mode;
  context: Pick<CallContext, "questions" | "scope" | "keyOf">;
  signal: AbortSignal | undefined;
}

/** Lets a call through at once (nothing to wait for), asks, or refuses. Asking with nobody there is a refusal. */
export function approve(
  tool: ToolEntry,
  args: Record<string, unknown>,
  call: Pick<Call, "id" | "trace">,
  context: ApproveContext,
): Promise<void> | undefined {
  const mode = modeOf(tool, context);
  if (mode === "approve") return undefined;
  if (mode === "deny") throw refused(tool, "config denies it");
  const need = mode === "auto" ? risk(tool) : "config says to ask";
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

/** The most specific word wins: the server's rule for the tool, the server's default, the general rules, the door. */
export function modeOf(
  { name }: ToolEntry,
  { config, settings, otherwise }: Pick<ApproveContext, "config" | "settings" | "otherwise">,
): Mode {
  return ruleFor(config.approval, name) ?? ruleFor(settings.approval, name) ?? otherwise;
}

function ruleFor(rule: ServerConfig["approval"], name: string): Mode | undefined {
  if (rule === undefined || typeof rule === "string") return rule;
  const globs = Object.entries(rule.tools ?? {}).filter(([glob]) => matchesGlob(glob, name));
  // Of several patterns that fit, the strictest: a deny cannot be undone by a wider approval.
  const strictness: Mode[] = ["deny", "prompt", "auto", "approve"];
  return strictness.find((mode) => globs.some(([, own]) => own === mode)) ?? rule.default;
}

/** Why `auto` asks: only what says of itself that it changes nothing, or nothing that cannot be undone, goes through. */
function risk({ annotations }: ToolEntry): string | undefined {
  if (annotations["readOnlyHint"] === true) return undefined;
  if (annotations["destructiveHint"] === false && annotations["openWorldHint"] === false) return undefined;
  return annotations["destructiveHint"] === false ? "it reaches out to the world" : "it may change something";
}

function refused({ server, id, name }: ToolEntry, why: string): PlugboardError {
  return new PlugboardError(
    "approval-denied",
    `The call of ${name} on "${server}" was not approved: ${why}.`,
    { server, tool: id },
  );
}
