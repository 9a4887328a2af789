import { matchesAny } from "../lib/glob.ts";
import type { BundleConfig } from "./schema.ts";
import type { ServerConfig } from "./server-schema.ts";

export type ToolVerdict = { offered: true } | { offered: false; because: string };

/**
 * Whether a server's tool is offered, in all or in one bundle. A tool must pass both the server's rules and the
 * bundle's; deny beats allow; a server that is not believed offers only what some allow list names.
 */
export function toolVerdict(server: ServerConfig, tool: string, bundle?: BundleConfig): ToolVerdict {
  const lists = [
    { where: "the server", rules: server.tools },
    { where: "the bundle", rules: bundle?.tools },
  ];
  for (const { where, rules } of lists) {
    if (rules?.deny && matchesAny(rules.deny, tool)) return no(`${where} denies it`);
  }
  for (const { where, rules } of lists) {
    if (rules?.allow && !matchesAny(rules.allow, tool)) return no(`${where} allows other tools only`);
  }
  if (server.untrusted && !server.tools?.allow && !bundle?.tools?.allow) {
    return no("the server is untrusted and no allow list names the tool");
  }
  return { offered: true };
}

function no(because: string): ToolVerdict {
  return { offered: false, because };
}
