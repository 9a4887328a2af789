import { needOf } from "../calls/approvals/need.ts";
import type { Need } from "../calls/approvals/need.ts";
import type { DefinitionFlag } from "../catalog/flags/definition.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import { approvalFields, ruleOrigin } from "../config/approval/origin.ts";
import { conditionalRules, rulingOf } from "../config/approval/rules.ts";
import type { Conditions } from "../config/approval/schema.ts";
import { formatPath, valueAt } from "../config/documents/document.ts";
import type { Path } from "../config/documents/document.ts";
import { fieldChanges } from "../config/lock/changes.ts";
import type { FieldChange } from "../config/lock/changes.ts";
import type { BundleEntry, LoadedConfig, Origin, ServerEntry } from "../config/model.ts";
import { toolVerdict } from "../config/tool-rules.ts";
import { matchesGlob } from "../lib/glob.ts";
import { isRecord } from "../lib/record.ts";
import type { ApprovalEntry } from "./approvals.ts";
import { isAlwaysLoaded } from "./offer/always-loaded.ts";
import type { Deferral } from "./offer/deferral.ts";

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
  /** If the server is pinned: the lock file, and what differs from it. */
  pin?: { file: string; state: "same" | NonNullable<ToolEntry["pin"]>; changes: FieldChange[] };
  /** What is suspicious in its definition. */
  flags: DefinitionFlag[];
  /** Whether models find the tool by a search instead of being shown it, why, and what decides. Only of available tools. */
  deferral?: { deferred: boolean; because: string; decidedBy: { rule: string; origin?: Origin } };
  approval: ApprovalExplanation;
  /** The rules of the configuration that apply to it. */
  rules: ToolRule[];
}

/** What happens to calls of a tool, and why. */
export interface ApprovalExplanation {
  /** The mode where no condition is met. */
  mode: string;
  /** The rule that decides, and where it is written. */
  rule?: string;
  origin?: Origin;
  /** What happens to a call now, apart from conditions; absent if the caller decides. */
  outcome?: "approved" | "asked" | "denied";
  /** Why it is asked about, or why not. */
  because?: string;
  /** Rules that look at the arguments. The strictest one that matches wins. */
  conditions: ConditionExplanation[];
  /** Earlier answers of this caller. */
  remembered: ApprovalEntry[];
}

export interface ConditionExplanation {
  rule: string;
  mode: string;
  when: Conditions;
  origin: Origin;
}

/** A rule of the configuration about a tool. */
export interface ToolRule {
  /** Its path in the server's entry, for example `tools.deny[0]`; a bundle's rule begins with `bundles.<name>.` */
  rule: string;
  /** What the rule says, if it is a pattern. */
  pattern?: string;
  origin: Origin;
}

/** What is known about a tool beside the configuration. */
interface ToolFacts {
  flags: DefinitionFlag[];
  remembered: ApprovalEntry[];
  deferral: Deferral;
}

/** Explains a tool as a view with this bundle, or without one, shows it; `deferral` is that of the view. */
export function explainTool(
  tool: ToolEntry,
  config: LoadedConfig,
  { flags, remembered, deferral }: ToolFacts,
  bundleName?: string,
): ToolExplanation {
  const entry = config.servers.get(tool.server);
  const bundle = bundleName === undefined ? undefined : config.bundles.get(bundleName);
  const decidedBy = hidingRule(tool, config, bundleName);
  const approval = approvalOf(tool, config, remembered);
  return {
    id: tool.id,
    server: tool.server,
    name: tool.name,
    status: tool.status,
    ...(tool.because !== undefined && { because: tool.because }),
    ...(decidedBy && { decidedBy }),
    ...(tool.renamedTo !== undefined && { renamedTo: tool.renamedTo }),
    ...pinOf(tool, config),
    flags,
    ...(tool.status === "available" && { deferral: deferralOf(tool, entry, deferral) }),
    approval,
    rules: [
      ...rulesOf(tool, entry),
      ...rulesOf(tool, bundle, ["bundles", bundleName ?? ""]),
      ...(approval.rule === undefined || !approval.origin
        ? []
        : [{ rule: approval.rule, origin: approval.origin }]),
    ],
  };
}

function pinOf({ server, name, raw, pin }: ToolEntry, { pins }: LoadedConfig): Pick<ToolExplanation, "pin"> {
  const known = pins?.get(server);
  if (!known) return {};
  const state = pin ?? "same";
  const pinned = known.tools.get(name)?.definition;
  const isNew = pinned === undefined || state === "unreadable";
  // Of a damaged pin, too, everything is shown: a difference from it says nothing about what was approved.
  const changes = isNew ? [] : fieldChanges(state === "damaged" ? {} : pinned, raw);
  return { pin: { file: known.file, state, changes } };
}

function deferralOf(
  tool: ToolEntry,
  entry: ServerEntry | undefined,
  { deferred, because, setting }: Deferral,
) {
  const { rule, origin } = setting;
  if (!deferred || !isAlwaysLoaded(tool, entry?.config))
    return { deferred, because, decidedBy: { rule, ...(origin && { origin }) } };
  const paths = matching(["alwaysLoad"], entry?.config?.alwaysLoad, tool.name);
  const kept = entry && ruleAt(entry, paths[0] ?? ["alwaysLoad"]);
  return {
    deferred: false,
    because: "`alwaysLoad` keeps it among the tools that are shown",
    decidedBy: kept ?? { rule: "alwaysLoad" },
  };
}

const notConfigured =
  "no rule; `plugboard call`, the library and the gateway run it without asking, `call_tool` and chat go by its annotations";

/** The rule of the configuration that hides a tool from a view with this bundle, or without one. */
export function hidingRule(
  { name, server, status }: ToolEntry,
  { servers, bundles }: LoadedConfig,
  bundleName?: string,
): ToolRule | undefined {
  const entry = servers.get(server);
  const bundle = bundleName === undefined ? undefined : bundles.get(bundleName);
  const verdict = toolVerdict(entry?.config ?? {}, name, bundle?.config);
  if (status !== "hidden" || verdict.offered) return undefined;
  const { owner, path } = verdict.rule;
  if (owner === "bundle") return bundle && ruleAt(bundle, path, ["bundles", bundle.name]);
  return entry && ruleAt(entry, path);
}

function approvalOf(tool: ToolEntry, config: LoadedConfig, remembered: ApprovalEntry[]): ApprovalExplanation {
  const { server } = tool;
  const fields = approvalFields(server, config);
  const conditions = conditionalRules(tool, fields).map((rule): ConditionExplanation => ({
    rule: formatPath(rule.path),
    mode: rule.mode,
    when: rule.when ?? {},
    origin: ruleOrigin(rule, server, config),
  }));
  const { mode, rules } = rulingOf(tool, {}, fields, "approve");
  const [rule] = rules;
  if (!rule) return { mode: notConfigured, conditions, remembered };
  const isUntrusted = config.servers.get(server)?.config?.untrusted === true;
  const need = needOf({ tool, args: {} }, { fields, otherwise: "approve", isUntrusted });
  const isAsked = typeof need === "object" && "because" in need;
  const answer = isAsked ? remembered.find((one) => answers(one, need)) : undefined;
  const because = answer
    ? `an earlier answer allows it (${answer.id})`
    : isAsked
      ? need.because
      : harmless[mode];
  return {
    mode,
    rule: formatPath(rule.path),
    origin: ruleOrigin(rule, server, config),
    outcome: mode === "deny" ? "denied" : isAsked && !answer ? "asked" : "approved",
    ...(because !== undefined && { because }),
    conditions,
    remembered,
  };
}

const harmless: Partial<Record<string, string>> = { auto: "its annotations say that it is harmless" };

/** True if an earlier answer makes the question unnecessary. */
function answers({ stale, when, remembered }: ApprovalEntry, { upTo }: Need): boolean {
  return stale === undefined && when === undefined && (upTo === "always" || upTo === remembered);
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
