import { isRecord } from "../../lib/record.ts";
import type { ServerConfig } from "../server-schema.ts";

/** The path of a field in our server entry, at most two levels deep. */
export type ConfigField =
  | keyof ServerConfig
  | `tools.${keyof NonNullable<ServerConfig["tools"]>}`
  | `oauth.${keyof NonNullable<ServerConfig["oauth"]>}`
  | `network.${keyof NonNullable<ServerConfig["network"]>}`
  | "approval.default"
  | "approval.tools";

export type FlatConfig = Map<ConfigField, unknown>;

const expanded = /^(command|args|env|url|headers|cwd|oauth\.\w+|network\.\w+)$/;

/** True for fields in which references such as `${NAME}` are expanded; all others are literal. */
export function isExpanded(target: ConfigField): boolean {
  return expanded.test(target);
}

const flattened = ["tools", "oauth", "network"] as const;

/** Flattens our entry, so that the fields a format cannot write are simply those left over. */
export function flatten(config: ServerConfig): FlatConfig {
  const flat: FlatConfig = new Map();
  for (const [field, value] of Object.entries(config)) {
    if (value === undefined) continue;
    if (field === "approval" && typeof value === "string") flat.set("approval.default", value);
    // No other client has conditions, and without them the rest would approve what they forbid.
    else if (field === "approval" && isRecord(value) && "rules" in value) flat.set(field, value);
    else if (isRecord(value) && (field === "approval" || flattened.some((name) => name === field))) {
      for (const [inner, member] of Object.entries(value)) {
        if (member !== undefined) flat.set(`${field}.${inner}` as ConfigField, member);
      }
    } else flat.set(field as ConfigField, value);
  }
  return flat;
}

/** The inverse of `flatten`; the result still has to be checked against the schema. */
export function unflatten(flat: FlatConfig): Record<string, unknown> {
  const config: Record<string, unknown> = {};
  for (const [target, value] of flat) {
    const [field = "", inner] = target.split(".");
    if (inner === undefined) config[field] = value;
    else config[field] = { ...(isRecord(config[field]) ? config[field] : {}), [inner]: value };
  }
  const { approval } = config;
  const isOneWord = isRecord(approval) && Object.keys(approval).every((field) => field === "default");
  if (isOneWord) config["approval"] = approval["default"];
  return config;
}
