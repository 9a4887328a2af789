import { isRecord } from "../lib/record.ts";

const capability = "codex/sandbox-state";
const metaKey = "codex/sandbox-state-meta";

/** True if a server wants to be told how its client's commands are confined. */
export function takesSandboxState(capabilities: Record<string, unknown>): boolean {
  return declares(capabilities, capability);
}

/** True if a server wants the same with each call. */
export function takesSandboxMeta(capabilities: Record<string, unknown>): boolean {
  return declares(capabilities, metaKey) || declares(capabilities, capability);
}

/** The parameters of a request for a server that does not. */
export function withoutSandboxMeta(params: Record<string, unknown>): Record<string, unknown> {
  const { _meta: meta } = params;
  if (!isRecord(meta) || !Object.hasOwn(meta, metaKey)) return params;
  const { [metaKey]: _, ...others } = meta;
  return { ...params, _meta: others };
}

function declares({ experimental }: Record<string, unknown>, name: string): boolean {
  return isRecord(experimental) && Object.hasOwn(experimental, name) && Boolean(experimental[name]);
}
