import { version } from "../../lib/version.ts";
import { modernRevision } from "./revisions.ts";

export type Capabilities = Readonly<Record<string, unknown>>;

/** Who we say we are. */
export const clientInfo = { name: "plugboard", title: "Plugboard", version } as const;

/** What every modern request carries in `_meta`, since there is no session to remember it. */
export function modernEnvelope(capabilities: Capabilities): Record<string, unknown> {
  return {
    "io.modelcontextprotocol/protocolVersion": modernRevision,
    "io.modelcontextprotocol/clientInfo": clientInfo,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
}
