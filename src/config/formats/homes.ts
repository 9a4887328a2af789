import { isRecord } from "../../lib/record.ts";
import type { ServerConfig } from "../server-schema.ts";

/** A place in our server entry that a foreign field can map to: a field, or one level inside it. */
export type Home =
  | keyof ServerConfig
  | `tools.${keyof NonNullable<ServerConfig["tools"]>}`
  | `oauth.${keyof NonNullable<ServerConfig["oauth"]>}`
  | `network.${keyof NonNullable<ServerConfig["network"]>}`
  | "approval.default"
  | "approval.tools";

export type Homes = Map<Home, unknown>;

const expanded = /^(command|args|env|url|headers|cwd|oauth\.\w+|network\.\w+)$/;

/** Where references such as `${NAME}` are looked up; everywhere else our text is literal. */
export function isExpanded(home: Home): boolean {
  return expanded.test(home);
}

const divided = ["tools", "oauth", "network"] as const;

/** Our entry as a flat list of places, so that what a format has no field for is simply what is left over. */
export function takeApart(config: ServerConfig): Homes {
  const homes: Homes = new Map();
  for (const [field, value] of Object.entries(config)) {
    if (value === undefined) continue;
    if (field === "approval" && typeof value === "string") homes.set("approval.default", value);
    else if (isRecord(value) && (field === "approval" || divided.some((name) => name === field))) {
      for (const [inner, member] of Object.entries(value)) {
        if (member !== undefined) homes.set(`${field}.${inner}` as Home, member);
      }
    } else homes.set(field as Home, value);
  }
  return homes;
}

/** The way back; the result still has to pass the schema. */
export function putTogether(homes: Homes): Record<string, unknown> {
  const config: Record<string, unknown> = {};
  for (const [home, value] of homes) {
    const [field = "", inner] = home.split(".");
    if (inner === undefined) config[field] = value;
    else config[field] = { ...(isRecord(config[field]) ? config[field] : {}), [inner]: value };
  }
  const { approval } = config;
  if (isRecord(approval) && approval["tools"] === undefined) config["approval"] = approval["default"];
  return config;
}
