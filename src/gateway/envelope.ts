import type { ParsedParams } from "../host.ts";
import { isRecord } from "../lib/record.ts";

/** The names of what a modern request says about itself in `_meta`. */
export const metaKeys = {
  revision: "io.modelcontextprotocol/protocolVersion",
  client: "io.modelcontextprotocol/clientInfo",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  subscription: "io.modelcontextprotocol/subscriptionId",
} as const;

/** The parameters without what is between the client and us; the engine says its own to the server. */
export function cleanMeta(params: ParsedParams): ParsedParams {
  const { _meta: meta } = params.value;
  if (!isRecord(meta)) return params;
  const {
    progressToken: _token,
    [metaKeys.revision]: _revision,
    [metaKeys.client]: _client,
    [metaKeys.capabilities]: _capabilities,
    [metaKeys.logLevel]: _level,
    ...own
  } = meta;
  return params.with({ _meta: Object.keys(own).length > 0 ? own : undefined });
}
