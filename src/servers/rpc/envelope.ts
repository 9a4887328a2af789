import { version } from "../../lib/version.ts";

export type Capabilities = Readonly<Record<string, unknown>>;

/** Who we say we are. */
export const clientInfo = { name: "plugboard", title: "Plugboard", version } as const;

export const modernRevision = "2026-07-28";

/** The revisions before it, newest first; the first one is offered. */
export const legacyRevisions = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
] as const;

/** What every modern request carries in `_meta`, since there is no session to remember it. */
export function modernEnvelope(capabilities: Capabilities): Record<string, unknown> {
  return {
    "io.modelcontextprotocol/protocolVersion": modernRevision,
    "io.modelcontextprotocol/clientInfo": clientInfo,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
}
