import { PlugboardError } from "../errors.ts";
import { canonicalJson } from "../lib/canonical.ts";
import { issuesInWords } from "../lib/issue-words.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { ConnectionKey } from "../servers/connection-key.ts";
import type { CallContext } from "./send.ts";

const invalidParams = -32_602;
const missingCapability = -32_021;

/**
 * Turns a server's error answer into a PlugboardError with the server's message. "Invalid params" for arguments that
 * match the schema we know may mean that the schema changed, so the list is read again and the error says if it did.
 */
export async function answerError(
  tool: ToolEntry,
  error: { code: number; message: string; data?: unknown },
  key: ConnectionKey,
  context: Pick<CallContext, "catalog" | "scope">,
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
        ? "The server requires a client capability that is not available here."
        : undefined;
    return new PlugboardError(
      "server-error",
      `"${server}" answered ${name} with an error: ${issuesInWords(error.message)} (${error.code}).`,
      { ...details, hint },
    );
  }
  const change = await describeChange(tool, key, context);
  const hint = change === undefined ? undefined : "Check the tool's current schema before calling it again.";
  return new PlugboardError(
    "arguments-invalid",
    `"${server}" rejected the arguments of ${name}: ${issuesInWords(error.message)}.${change ?? ""}`,
    { ...details, hint, executed: "maybe" },
  );
}

async function describeChange(
  tool: ToolEntry,
  key: ConnectionKey,
  { catalog, scope }: Pick<CallContext, "catalog" | "scope">,
): Promise<string | undefined> {
  try {
    await catalog.refresh(key, ["tools"]);
    const now = await catalog.find(tool.id, scope, { wait: false }).catch(() => undefined);
    if (!now) return " The server no longer has this tool.";
    const isSame = canonicalJson(now.inputSchema) === canonicalJson(tool.inputSchema);
    return isSame ? undefined : " Its schema has changed since it was listed.";
  } catch {
    return undefined;
  }
}
