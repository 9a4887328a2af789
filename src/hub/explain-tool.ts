import { approvalRule } from "../calls/approve.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import { formatPath, valueAt } from "../config/documents/document.ts";
import type { Path } from "../config/documents/document.ts";
import type { BundleEntry, LoadedConfig, Origin, ServerEntry } from "../config/model.ts";
import { toolVerdict } from "../config/tool-rules.ts";
import { matchesGlob } from "../lib/glob.ts";
import { isRecord } from "../lib/record.ts";

/** A tool's status and approval mode, and where they come from. */
export interface ToolExplanation {
  id: string;
  server: string;
  name: string;
  status: ToolEntry["status"];
  because?: string;
  /** The rule that hides the tool. */
  decidedBy?: ToolRule;
  renamedTo?: string;
  approval: { mode: string; rule?: string; origin?: Origin };
  /** The rules of the configuration that apply to it. */
  rules: ToolRule[];
}

export interface ToolRule {
  /** Its path in the server's entry, for example `tools.deny[0]`; a bundle's rule begins with `bundles.<name>.` */
  rule: string;
  /** What the rule says, if it is a pattern. */
  pattern?: string;
  origin: Origin;
}

/** Explains a tool as a view with this bundle, or without one, shows it. */
export function explainTool(tool: ToolEntry, config: LoadedConfig, bundleName?: string): ToolExplanation {
  const entry = config.servers.get(tool.server);
  const bundle = bundleName === undefined ? undefined : config.bundles.get(bundleName);
  const decidedBy = tool.status === "hidden" ? decidingRule(tool, entry, bundle) : undefined;
  const approval = approvalOf(tool, entry, config);
  return {
    id: tool.id,
    server: tool.server,
    name: tool.name,
    status: tool.status,
    ...(tool.because !== undefined && { because: tool.because }),
    ...(decidedBy && { decidedBy }),
    ...(tool.renamedTo !== undefined && { renamedTo: tool.renamedTo }),
    approval: approval ?? { mode: notConfigured },
    rules: [
      ...rulesOf(tool, entry),
      ...rulesOf(tool, bundle, ["bundles", bundleName ?? ""]),
      ...(approval?.rule === undefined ? [] : [{ rule: approval.rule, origin: approval.origin }]),
    ],
  };
}

const notConfigured =
  "not configured; the caller decides (library and gateway: their caller; chat: by the tool's annotations)";

function decidingRule(
  { name }: ToolEntry,
  server: ServerEntry | undefined,
  bundle: BundleEntry | undefined,
): ToolRule | undefined {
  const verdict = toolVerdict(server?.config ?? {}, name, bundle?.config);
  if (verdict.offered) return undefined;
  const { owner, path } = verdict.rule;
  if (owner === "bundle") return bundle && ruleAt(bundle, path, ["bundles", bundle.name]);
  return server && ruleAt(server, path);
}

function approvalOf({ name }: ToolEntry, entry: ServerEntry | undefined, config: LoadedConfig) {
  const own = approvalRule(entry?.config?.approval, name);
  const found = own ?? approvalRule(config.settings.approval, name);
  if (!found) return undefined;
  const rule = formatPath(found.path);
  const origin = (own ? entry?.rules : config.settingRules)?.[rule] ?? { scope: "override" as const };
  return { mode: found.mode, rule, origin };
}

type Holder = Pick<ServerEntry | BundleEntry, "config" | "rules" | "origin"> &
  Partial<Pick<ServerEntry, "fields">>;

/** The rules of a server or bundle about this tool: patterns that match it, a list that leaves it out, whole fields. */
function rulesOf({ name }: ToolEntry, holder: Holder | undefined, prefix: Path = []): ToolRule[] {
  if (!holder) return [];
  const { config, fields = {} } = holder;
  const paths: Path[] = [
    ...Object.entries(config?.tools ?? {}).flatMap(([field, rule]) => matching(["tools", field], rule, name)),
    ...["untrusted", "output"].filter((field) => Object.hasOwn(fields, field)).map((field) => [field]),
  ];
  return paths.map((path) => ruleAt(holder, path, prefix));
}

function matching(path: Path, rule: unknown, name: string): Path[] {
  if (!Array.isArray(rule)) {
    const globs = isRecord(rule) ? Object.keys(rule) : [];
    return globs.filter((glob) => matchesGlob(glob, name)).map((glob) => [...path, glob]);
  }
  const matches = rule.flatMap((glob, index) => (matchesGlob(String(glob), name) ? [[...path, index]] : []));
  return matches.length === 0 && path.at(-1) === "allow" ? [path] : matches;
}

function ruleAt({ config, rules, fields, origin }: Holder, path: Path, prefix: Path = []): ToolRule {
  const pattern = typeof path.at(-1) === "number" ? valueAt(config, path) : undefined;
  const written = formatPath(path);
  return {
    rule: formatPath([...prefix, ...path]),
    ...(typeof pattern === "string" && { pattern }),
    origin: rules[written] ?? fields?.[written] ?? origin,
  };
}
