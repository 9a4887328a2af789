import type { Method } from "../core.ts";
import { viewOf } from "../exchange.ts";

/** How Codex tells servers what its sandbox allows: a request in newer versions, a notification in older ones. */
export const sandboxMethod = "codex/sandbox-state/update";

/** The state of this caller. Only servers that declare `codex/sandbox-state` are told. */
export const setSandboxState: Method = async ({ client, params }) => {
  const { _meta: _unused, ...state } = params.value;
  await viewOf(client).setSandboxState(state);
  return { result: {} };
};
