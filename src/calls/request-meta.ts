import { PlugboardError } from "../errors.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import { assertSerializable } from "./serializable.ts";

/**
 * What a program adds to `_meta` of a call, without what is between us and the server: the fields of the protocol itself,
 * and of the state that only servers that ask for it get. Undefined if nothing is left.
 */
export function requestMeta(
  tool: ToolEntry,
  meta: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> | undefined {
  if (meta === undefined) return undefined;
  if (typeof meta !== "object" || meta === null || Array.isArray(meta))
    throw new PlugboardError("usage-invalid", "`meta` of a call must be an object.", {
      server: tool.server,
      tool: tool.id,
      hint: "Leave it out, or pass the fields that `_meta` of the request shall have.",
    });
  const own = Object.entries(meta).filter(([key]) => !isReserved(key));
  if (own.length === 0) return undefined;
  const fields = Object.fromEntries(own);
  assertSerializable(tool, fields);
  return fields;
}

function isReserved(key: string): boolean {
  return (
    key === "progressToken" || key === "codex/sandbox-state-meta" || /^io\.modelcontextprotocol\//i.test(key)
  );
}
