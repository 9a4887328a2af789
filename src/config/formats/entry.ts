import { isRecord } from "../../lib/record.ts";
import { serverSchema, type ServerConfig } from "../server-schema.ts";
import { withoutAutoApproval } from "./auto-approval.ts";
import { moveCredentials } from "./address-credentials.ts";
import { createReadDraft, createWriteDraft, lost, type ReadDraft, type WriteDraft } from "./draft.ts";
import { readFields, type Rules, writeFields } from "./fields.ts";
import type { ImportedServer, Note, ReadContext, WrittenServer } from "./format.ts";
import { type FlatConfig, unflatten, flatten } from "./flat-config.ts";
import { unwrapMcpRemote } from "./clients/mcp-remote.ts";
import { findLiteralSecrets, withoutLiteralSecrets } from "./secrets.ts";
import { chooseTransport } from "./transport.ts";
import type { VariableSyntax } from "./variables.ts";

/** Describes how a client writes one server. */
export interface EntryShape {
  fields: Rules;
  variables: VariableSyntax;
  /** The transport of a URL when the entry does not name one. */
  remote: "http" | "sse";
  /** Called after the fields are read and before the transport is determined; returns why the entry is unusable. */
  afterRead?(draft: ReadDraft, entry: Record<string, unknown>): string | undefined;
  /** Called before the fields are written, to express settings that this client has no field for in other fields. */
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
  const transport = chooseTransport(draft.config, shape.remote);
  if ("problem" in transport) return transport;
  if (transport.surplus) draft.notes.push(lost(transport.surplus, "the entry has both a command and a URL"));
  const checked = serverSchema.safeParse(unflatten(draft.config));
  if (!checked.success)
    return { problem: `its value is not valid for our \`${checked.error.issues[0]?.path.join(".")}\`` };
  return { server: { name, config: checked.data, notes: [...draft.notes, ...findLiteralSecrets(draft)] } };
}

export function writeEntry(
  name: string,
  config: ServerConfig,
  shape: EntryShape,
  client: string,
): WrittenServer {
  const asking = withoutAutoApproval(config);
  const safe = withoutLiteralSecrets(name, asking.config);
  const flat = flatten(safe.config);
  flat.set("type", config.type ?? (config.command === undefined ? "http" : "stdio"));
  const draft = createWriteDraft({ name, client }, flat, shape.variables);
  shape.beforeWrite?.(draft);
  const entry = writeFields(shape.fields, draft);
  // The client infers these transports, so not writing them loses nothing.
  if (flat.get("type") === "stdio" || flat.get("type") === shape.remote) flat.delete("type");
  const unasked = asking.lost.map((field) =>
    lost(field, `Plugboard calls without asking here; whether ${client} does is for you to set there`),
  );
  return { entry, notes: [...unasked, ...safe.notes, ...draft.notes, ...leftOver(flat, client)] };
}

function leftOver(config: FlatConfig, client: string): Note[] {
  return [...config.keys()].map((target) => lost(target, `${client} has no equivalent`));
}
