import { formatPath } from "../documents/document.ts";
import type { LoadedConfig, Origin } from "../model.ts";
import { policyOrigin } from "../policy/policy.ts";
import type { ApprovalFields, ApprovalRule } from "./rules.ts";

/** Where a rule that applies to a server's tool is written. */
export function ruleOrigin({ owner, path }: ApprovalRule, server: string, config: LoadedConfig): Origin {
  const written = formatPath(path);
  if (owner === "policy") return policyOrigin(config.policy, written);
  const rules = owner === "server" ? config.servers.get(server)?.rules : config.settingRules;
  return rules?.[written] ?? { scope: "override" };
}

/** All that is configured about approval on a server. */
export function approvalFields(server: string, config: LoadedConfig): ApprovalFields {
  return {
    server: config.servers.get(server)?.config?.approval,
    settings: config.settings.approval,
    policy: config.policy.approval,
  };
}
