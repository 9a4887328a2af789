import type { ServerConfig } from "../config/server-schema.ts";
import { toolVerdict } from "../config/tool-rules.ts";
import type { BundleConfig } from "../config/schema.ts";
import { matchesGlob } from "../lib/glob.ts";
import { isRecord } from "../lib/record.ts";
import { toolId } from "./names.ts";
import type { Naming } from "./names.ts";
import { paramHeaderProblem } from "./param-headers.ts";
import { guardSchema } from "./schema/guard.ts";
import type { RawEntry } from "./known-list.ts";

/** One tool of one server, with its id and status. */
export interface ToolEntry {
  /** The name that the model sees and calls. */
  id: string;
  server: string;
  /** The server's own name for it. */
  name: string;
  /** The name from config, if the tool is renamed; the id is built from it. */
  renamedTo?: string;
  title?: string;
  description?: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  /** Includes the overrides from config; empty for an `untrusted` server. */
  annotations: Record<string, unknown>;
  /** The entry as the server sent it. */
  raw: RawEntry;
  /** `hidden` by a rule in your configuration, `set-aside` because the tool is invalid. */
  status: "available" | "hidden" | "set-aside";
  because?: string;
}

const maxDescription = 32_000;

/** Gives a tool that a server sent its id and status. */
export function judgeTool(
  server: string,
  config: ServerConfig,
  name: string,
  raw: RawEntry,
  naming: Naming,
): ToolEntry {
  const renamed = config.tools?.rename?.[name];
  const { title, description, inputSchema, outputSchema } = raw;
  const schema = isRecord(inputSchema) ? inputSchema : { type: "object" };
  return {
    id: toolId(server, renamed ?? name, naming),
    server,
    name,
    ...(renamed !== undefined && { renamedTo: renamed }),
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && {
      description:
        description.length > maxDescription ? `${description.slice(0, maxDescription)} …` : description,
    }),
    inputSchema: schema,
    ...(isRecord(outputSchema) && { outputSchema }),
    annotations: annotationsOf(name, raw, config),
    raw,
    ...statusOf(name, raw, config),
  };
}

/** Applies a bundle's rules in addition. */
export function inBundle(entry: ToolEntry, config: ServerConfig, bundle: BundleConfig): ToolEntry {
  if (entry.status === "set-aside") return entry;
  const verdict = toolVerdict(config, entry.name, bundle);
  if (verdict.offered && entry.status === "available") return entry;
  const { because: _, ...rest } = entry;
  return verdict.offered
    ? { ...rest, status: "available" }
    : { ...rest, status: "hidden", because: verdict.because };
}

function statusOf(
  name: string,
  { inputSchema }: RawEntry,
  config: ServerConfig,
): Pick<ToolEntry, "status" | "because"> {
  const guarded = guardSchema(inputSchema);
  if (!guarded.ok) {
    const where = guarded.path === "" ? "its input schema" : `its input schema at ${guarded.path}`;
    return { status: "set-aside", because: `${where}: ${guarded.reason}` };
  }
  const header = paramHeaderProblem(inputSchema);
  if (header !== undefined) return { status: "set-aside", because: header };
  const verdict = toolVerdict(config, name);
  return verdict.offered ? { status: "available" } : { status: "hidden", because: verdict.because };
}

function annotationsOf(
  name: string,
  { annotations }: RawEntry,
  { untrusted, tools }: ServerConfig,
): Record<string, unknown> {
  const said = untrusted || !isRecord(annotations) ? {} : annotations;
  if (!tools?.annotations) return said;
  const corrections = Object.entries(tools.annotations).filter(([glob]) => matchesGlob(glob, name));
  return Object.assign({}, said, ...corrections.map(([, value]) => value)) as Record<string, unknown>;
}
