import { matchesAny, matchesGlob } from "../lib/glob.ts";
import type { Path } from "./documents/document.ts";
import type { BundleConfig } from "./schema.ts";
import type { ServerConfig } from "./server-schema.ts";

export type ToolVerdict = { offered: true } | { offered: false; because: string; rule: DecidingRule };

/** The rule that decides, as a path in the entry of the server or bundle. */
export interface DecidingRule {
  owner: "server" | "bundle";
  path: Path;
}

/**
 * Decides whether a server's tool is offered, with or without a bundle. A tool must pass both the server's rules and
 * the bundle's; deny takes precedence over allow; an untrusted server offers only tools that an allow list names.
 */
export function toolVerdict(server: ServerConfig, tool: string, bundle?: BundleConfig): ToolVerdict {
  const lists = [
    { owner: "server", rules: server.tools },
    { owner: "bundle", rules: bundle?.tools },
  ] as const;
  for (const { owner, rules } of lists) {
    const denied = rules?.deny?.findIndex((glob) => matchesGlob(glob, tool)) ?? -1;
    if (denied >= 0)
      return notOffered(`${field("deny", owner)} hides it`, { owner, path: ["tools", "deny", denied] });
  }
  for (const { owner, rules } of lists) {
    if (rules?.allow && !matchesAny(rules.allow, tool))
      return notOffered(`${field("allow", owner)} does not list it`, { owner, path: ["tools", "allow"] });
  }
  if (server.untrusted && !server.tools?.allow && !bundle?.tools?.allow) {
    const because = "its server is `untrusted`, and no `tools.allow` lists it";
    return notOffered(because, { owner: "server", path: ["untrusted"] });
  }
  return { offered: true };
}

/** The rule is one of the user's, so it is called by its place in their configuration. */
function field(list: "allow" | "deny", owner: DecidingRule["owner"]): string {
  return `\`tools.${list}\`${owner === "bundle" ? " of the bundle" : ""}`;
}

function notOffered(because: string, rule: DecidingRule): ToolVerdict {
  return { offered: false, because, rule };
}
