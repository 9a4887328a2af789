import { isRecord } from "../../lib/record.ts";
import type { ServerConfig } from "../server-schema.ts";

/**
 * A server without what lets calls through unasked, which a person decided for one program and not for another. Rules
 * that ask or deny stay. `lost` names what was left out, in the words of our configuration.
 */
export function withoutAutoApproval(config: ServerConfig): { config: ServerConfig; lost: string[] } {
  const { approval, ...others } = config;
  if (approval === "approve") return { config: others, lost: ["approval"] };
  // Conditions go together or not at all: without some of them, the others may approve what these forbid.
  if (!isRecord(approval) || approval["rules"] !== undefined) return { config, lost: [] };
  const { default: usual, tools = {}, ...rest } = approval;
  const asked = Object.entries(tools).filter(([, mode]) => mode !== "approve");
  const approved = Object.keys(tools).filter((tool) => tools[tool] === "approve");
  const lost = [
    ...(usual === "approve" ? ["approval.default"] : []),
    ...approved.map((tool) => `approval.tools.${tool}`),
  ];
  if (lost.length === 0) return { config, lost };
  const kept = {
    ...rest,
    ...(usual !== undefined && usual !== "approve" && { default: usual }),
    ...(asked.length > 0 && { tools: Object.fromEntries(asked) }),
  };
  return { config: Object.keys(kept).length > 0 ? { ...others, approval: kept } : others, lost };
}
