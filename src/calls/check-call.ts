import type { ToolEntry } from "../catalog/tool-entry.ts";
import { approvalFields } from "../config/approval/origin.ts";
import { looksAtArguments } from "../config/approval/rules.ts";
import { needOf } from "./approvals/need.ts";
import { checkApproval } from "./approve.ts";
import type { CallCheck } from "./approve.ts";
import { assertAvailable, findForCall } from "./clearance.ts";
import type { CallContext, SendOptions } from "./send.ts";
import { fitArguments } from "./validate.ts";

/** Says what a call would meet. Sends nothing and asks nobody; throws what the call would throw before that. */
export async function checkCall(
  id: string,
  args: Record<string, unknown>,
  { approval = "approve", signal }: Pick<SendOptions, "approval" | "signal">,
  context: CallContext,
): Promise<CallCheck> {
  const tool = await findForCall(id, signal, context);
  assertAvailable(tool);
  const { server } = tool;
  const route = await context.routed(server, () => signal);
  const { fitted } = fitArguments(tool, args, route.config, context.validators);
  return checkApproval(
    { tool, args: fitted, call: { id: "", route } },
    {
      fields: approvalFields(server, route.loaded),
      isUntrusted: route.config.untrusted === true,
      otherwise: approval,
      context,
      waiting: {},
      signal: () => signal ?? new AbortController().signal,
    },
  );
}

/**
 * True if somebody may be asked about a call of the tool, depending on its arguments, on what is remembered, and on
 * annotations that its server can change.
 */
export function mayAsk(
  tool: ToolEntry,
  otherwise: NonNullable<SendOptions["approval"]>,
  context: CallContext,
): boolean {
  const { config, loaded } = context.route(tool.server);
  const fields = approvalFields(tool.server, loaded);
  const isUntrusted = config.untrusted === true;
  if (looksAtArguments(tool, fields)) return true;
  const need = needOf({ tool, args: {} }, { fields, otherwise, isUntrusted });
  return need === "harmless" || (typeof need === "object" && !("denied" in need));
}
