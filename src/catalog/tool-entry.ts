import type { PinVerdict, ServerPins } from "../config/lock/pins.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import { toolVerdict } from "../config/tool-rules.ts";
import type { BundleConfig } from "../config/schema.ts";
import { matchesGlob } from "../lib/glob.ts";
import { isRecord, own } from "../lib/record.ts";
import { argumentRules, visibleSchema } from "./argument-rules.ts";
import { offeredTo } from "./audience.ts";
import type { Audience } from "./audience.ts";
import { asideReason } from "./deep-entry.ts";
import { toolId } from "./names.ts";
import type { Naming } from "./names.ts";
import { paramHeaderProblem } from "./param-headers.ts";
import { pinProblem } from "./pin-problem.ts";
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
  /** From config, if it has one for this tool. */
  description?: string;
  /** Without the arguments that config hides. */
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  /** Includes the overrides from config; empty for an `untrusted` server. */
  annotations: Record<string, unknown>;
  /** The entry as the server sent it. */
  raw: RawEntry;
  /**
   * `hidden` by a rule in your configuration or because it is only for apps, `set-aside` because the tool is invalid or
   * is not what a lock file pins.
   */
  status: "available" | "hidden" | "set-aside";
  because?: string;
  /** If a lock file sets it aside: how it differs from what is pinned. */
  pin?: Exclude<PinVerdict, "same"> | "unreadable";
}

const maxDescription = 32_000;

/** Gives a tool that a server sent its id, and its status for a model. */
export function judgeTool(
  server: string,
  config: ServerConfig,
  name: string,
  raw: RawEntry,
  naming: Naming,
  pins?: ServerPins,
): ToolEntry {
  const renamed = own(config.tools?.rename, name);
  const { title, outputSchema } = raw;
  const description = own(config.tools?.describe, name) ?? raw["description"];
  const status = statusOf(name, raw, config, pins);
  const { schema, problem } = shownSchema(name, raw, config, status);
  return offeredTo("model", {
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
    ...(problem === undefined ? status : { status: "set-aside" as const, because: problem }),
  });
}

/** The schema that arguments are checked against: the server's own, with what the configuration hides. */
export function callSchema({ inputSchema }: RawEntry): Record<string, unknown> {
  return isRecord(inputSchema) ? inputSchema : anyObject;
}

const anyObject = { type: "object" };

/** What whoever calls sees of the schema. A schema that is set aside is not looked into. */
function shownSchema(
  name: string,
  raw: RawEntry,
  config: ServerConfig,
  { status }: Pick<ToolEntry, "status">,
): { schema: Record<string, unknown>; problem?: string } {
  const schema = callSchema(raw);
  const rules = status === "set-aside" ? undefined : argumentRules(name, schema, config);
  const shown = rules ? visibleSchema(schema, rules) : { schema };
  return "problem" in shown ? { schema, problem: shown.problem } : shown;
}

/** Judges a tool anew for another audience, or with a bundle's rules in addition. */
export function judgeFor(
  entry: ToolEntry,
  config: ServerConfig,
  { audience, bundle }: { audience: Audience; bundle: BundleConfig | undefined },
): ToolEntry {
  if (entry.status === "set-aside") return entry;
  const verdict = toolVerdict(config, entry.name, bundle);
  const { because: _, status, ...rest } = entry;
  if (!verdict.offered) return { ...rest, status: "hidden", because: verdict.because };
  return offeredTo(audience, status === "available" ? entry : { ...rest, status: "available" });
}

function statusOf(
  name: string,
  raw: RawEntry,
  config: ServerConfig,
  pins: ServerPins | undefined,
): Pick<ToolEntry, "status" | "because" | "pin"> {
  const { inputSchema } = raw;
  const aside = asideReason(raw);
  if (aside !== undefined) return { status: "set-aside", because: aside };
  const guarded = guardSchema(inputSchema);
  if (!guarded.ok) {
    const where = guarded.path === "" ? "its input schema" : `its input schema at ${guarded.path}`;
    return { status: "set-aside", because: `${where}: ${guarded.reason}` };
  }
  const header = paramHeaderProblem(inputSchema);
  if (header !== undefined) return { status: "set-aside", because: header };
  // Before the rules that hide a tool: a bundle or an app may be shown what models are not.
  const unpinned = pins && pinProblem(pins, "tools", name, raw);
  if (unpinned) return { status: "set-aside", ...unpinned };
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
