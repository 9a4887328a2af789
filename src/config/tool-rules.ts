import { matchesAny } from "../lib/glob.ts";
import type { BundleConfig } from "./schema.ts";
import type { ServerConfig } from "./server-schema.ts";

export type ToolVerdict = { offered: true } | { offered: false; because: string };

/**
 * Decides whether a server's tool is offered, with or without a bundle. A tool must pass both the server's rules and
 * the bundle's; deny takes precedence over allow; an untrusted server offers only tools that an allow list names.
 */
export function toolVerdict(server: ServerConfig, tool: string, bundle?: BundleConfig): ToolVerdict {
  const lists = [
    { owner: "server", rules: server.tools },
    { owner: "bundle", rules: bundle?.tools },
  ];
  for (const { owner, rules } of lists) {
    if (rules?.deny && matchesAny(rules.deny, tool)) return notOffered(`it is on the ${owner}'s deny list`);
  }
  for (const { owner, rules } of lists) {
    if (rules?.allow && !matchesAny(rules.allow, tool))
      return notOffered(`it is not on the ${owner}'s allow list`);
  }
  if (server.untrusted && !server.tools?.allow && !bundle?.tools?.allow) {
    return notOffered("the server is untrusted and no allow list names the tool");
  }
  return { offered: true };
}

function notOffered(because: string): ToolVerdict {
  return { offered: false, because };
}
