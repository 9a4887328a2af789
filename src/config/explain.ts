import type { Diagnostic, LoadedConfig, Origin, ServerEntry, ServerStatus } from "./model.ts";

/** Where a server's configuration comes from, and why the server can or cannot be used. */
export interface ServerExplanation {
  name: string;
  origin: Origin;
  status: ServerStatus;
  /** The line that switches the server off. */
  decidedBy?: { rule: string; origin: Origin };
  fields: Record<string, Origin>;
  shadowed: Origin[];
  bundles: { name: string; origin: Origin }[];
  trust: "not-needed" | "trusted" | "untrusted";
  policy: { file?: string; verdict: "none" | "allowed" | "refused" };
  /** The lock file that pins it, and why it cannot be used if it cannot. */
  lock?: { file: string; broken?: string };
  diagnostics: Diagnostic[];
}

export function explainServer(config: LoadedConfig, name: string): ServerExplanation | undefined {
  const entry = config.servers.get(name);
  if (!entry) return undefined;
  const bundles = [...config.bundles.values()].filter((bundle) => bundle.config?.servers.includes(name));
  return {
    name,
    origin: entry.origin,
    status: entry.status,
    ...decidedBy(entry),
    fields: entry.fields,
    shadowed: entry.shadowed.map(({ origin }) => origin),
    bundles: bundles.map((bundle) => ({ name: bundle.name, origin: bundle.origin })),
    trust: trustOf(entry),
    policy: policyOf(entry, config),
    ...lockOf(name, config),
    diagnostics: entry.diagnostics,
  };
}

function decidedBy({ status, fields }: ServerEntry): Pick<ServerExplanation, "decidedBy"> {
  if (status.kind !== "disabled" || status.reason !== "off") return {};
  const rule = ["enabled", "disabled"].find((field) => Object.hasOwn(fields, field));
  const origin = rule === undefined ? undefined : fields[rule];
  return rule !== undefined && origin ? { decidedBy: { rule, origin } } : {};
}

function trustOf({ needsTrust, status }: ServerEntry): ServerExplanation["trust"] {
  if (!needsTrust) return "not-needed";
  return status.kind === "disabled" && status.reason === "untrusted" ? "untrusted" : "trusted";
}

function lockOf(name: string, { pins }: LoadedConfig): Pick<ServerExplanation, "lock"> {
  const { file, broken } = pins?.get(name) ?? {};
  if (file === undefined) return {};
  return { lock: { file, ...(broken !== undefined && { broken }) } };
}

function policyOf({ status }: ServerEntry, { policy }: LoadedConfig): ServerExplanation["policy"] {
  if (policy.file === undefined) return { verdict: "none" };
  const isRefused = status.kind === "disabled" && status.reason === "policy";
  return { file: policy.file, verdict: isRefused ? "refused" : "allowed" };
}
