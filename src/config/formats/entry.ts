import { isRecord } from "../../lib/record.ts";
import { serverSchema, type ServerConfig } from "../server-schema.ts";
import { moveCredentials } from "./address-credentials.ts";
import { createReadDraft, createWriteDraft, lost, type ReadDraft, type WriteDraft } from "./draft.ts";
import { readFields, type Rules, writeFields } from "./fields.ts";
import type { ImportedServer, Note, ReadContext } from "./format.ts";
import { type Homes, putTogether, takeApart } from "./homes.ts";
import { unwrapMcpRemote } from "./clients/mcp-remote.ts";
import { findLiteralSecrets } from "./secrets.ts";
import { settleTransport } from "./transport.ts";
import type { VariableSyntax } from "./variables.ts";

/** How a client writes one server. */
export interface EntryShape {
  fields: Rules;
  variables: VariableSyntax;
  /** What an address means when the entry does not name a transport. */
  remote: "http" | "sse";
  /** A last look at what was read, before the transport is settled. */
  afterRead?(draft: ReadDraft, entry: Record<string, unknown>): string | undefined;
  /** Says what this client has no field for in the words it has, before the fields are written. */
  beforeWrite?(draft: WriteDraft): void;
}

export type ReadEntry = { server: ImportedServer } | { problem: string };

export function readEntry(name: string, entry: unknown, shape: EntryShape, context: ReadContext): ReadEntry {
  if (!isRecord(entry)) return { problem: "it is not an object" };
  const draft = createReadDraft(name, shape.variables, context);
  const problem = readFields(entry, shape.fields, draft) ?? shape.afterRead?.(draft, entry);
  if (problem !== undefined) return { problem };
  unwrapMcpRemote(draft);
  moveCredentials(draft);
  const settled = settleTransport(draft.homes, shape.remote);
  if ("problem" in settled) return settled;
  if (settled.surplus) draft.notes.push(lost(settled.surplus, "the entry has a command and an address"));
  const checked = serverSchema.safeParse(putTogether(draft.homes));
  if (!checked.success)
    return { problem: `our \`${checked.error.issues[0]?.path.join(".")}\` cannot hold its value` };
  return { server: { name, config: checked.data, notes: [...draft.notes, ...findLiteralSecrets(draft)] } };
}

export function writeEntry(
  config: ServerConfig,
  shape: EntryShape,
  client: string,
): { entry: Record<string, unknown>; notes: Note[] } {
  const homes = takeApart(config);
  homes.set("type", config.type ?? (config.command === undefined ? "http" : "stdio"));
  const draft = createWriteDraft(client, homes, shape.variables);
  shape.beforeWrite?.(draft);
  const entry = writeFields(shape.fields, draft);
  // What the client concludes by itself need not be written.
  if (homes.get("type") === "stdio" || homes.get("type") === shape.remote) homes.delete("type");
  return { entry, notes: [...draft.notes, ...leftOver(homes, client)] };
}

function leftOver(homes: Homes, client: string): Note[] {
  return [...homes.keys()].map((home) => lost(home, `${client} has nothing like it`));
}
