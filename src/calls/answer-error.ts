import { PlugboardError } from "../errors.ts";
import { canonicalJson } from "../lib/canonical.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { CallContext } from "./send.ts";

const invalidParams = -32_602;
const missingCapability = -32_021;

/**
 * A server's error answer as ours, with its own words. "Invalid params" for arguments that fitted the schema we know
 * may mean that the schema changed: the list is asked for once more, and the error says so if it did.
 */
export async function answerError(
  tool: ToolEntry,
  error: { code: number; message: string; data?: unknown },
  context: CallContext,
): Promise<PlugboardError> {
  const { server, id, name } = tool;
  const details = {
    server,
    tool: id,
    data: { rpcCode: error.code, ...(error.data !== undefined && { rpcData: error.data }) },
  };
  if (error.code !== invalidParams) {
    const hint =
      error.code === missingCapability
        ? "The server wants something that nobody here can answer."
        : undefined;
    return new PlugboardError(
      "server-error",
      `"${server}" answered ${name} with an error: ${error.message} (${error.code}).`,
      { ...details, hint },
    );
  }
  const change = await drift(tool, context);
  const hint = change === undefined ? undefined : "Look at the tool again before the next call.";
  return new PlugboardError(
    "arguments-invalid",
    `"${server}" refused the arguments of ${name}: ${error.message}.${change ?? ""}`,
    { ...details, hint, executed: "maybe" },
  );
}

async function drift(tool: ToolEntry, { catalog, scope, keyOf }: CallContext): Promise<string | undefined> {
  try {
    await catalog.refresh(keyOf(tool.server), ["tools"]);
    const now = await catalog.find(tool.id, scope, { wait: false }).catch(() => undefined);
    if (!now) return " The tool is no longer there.";
    const isSame = canonicalJson(now.inputSchema) === canonicalJson(tool.inputSchema);
    return isSame ? undefined : " Its schema has changed since it was listed.";
  } catch {
    return undefined;
  }
}
