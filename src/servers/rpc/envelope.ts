import { isRecord } from "../../lib/record.ts";
import { version } from "../../lib/version.ts";
import { modernRevision } from "./revisions.ts";

/** The capabilities of a client, as the protocol declares them. */
export type Capabilities = Readonly<Record<string, unknown>>;

/** How Plugboard identifies itself to servers. */
export const clientInfo = { name: "plugboard", title: "Plugboard", version } as const;

/** The `_meta` fields of every modern request; there is no session that could remember them. */
export function modernEnvelope(capabilities: Capabilities): Record<string, unknown> {
  return {
    "io.modelcontextprotocol/protocolVersion": modernRevision,
    "io.modelcontextprotocol/clientInfo": clientInfo,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
}

const tasksExtension = "io.modelcontextprotocol/tasks";

/** The capabilities of somebody who waits for tasks. */
export function withTasks(capabilities: Capabilities): Capabilities {
  const { extensions } = capabilities;
  return { ...capabilities, extensions: { ...(isRecord(extensions) && extensions), [tasksExtension]: {} } };
}
