import type { Environment } from "../lib/folders.ts";
import { hasReferences, missingValues, missingVariables } from "./expand.ts";
import type { ServerEntry, ServerStatus } from "./model.ts";
import { policyRefusal } from "./policy.ts";
import type { ManagedPolicy } from "./policy.ts";
import { hintFor } from "../errors.ts";
import { shellWord } from "../lib/argv.ts";

export interface JudgeContext {
  policy: ManagedPolicy;
  env: Environment;
  /** Whether this user has trusted the entry; only matters for entries that need trust. */
  isTrusted: boolean;
}

/** Decides whether an entry may be used. Reports the strongest reason only: policy, mistakes, trust, disabled, missing values. */
export function judgeServer(entry: ServerEntry, context: JudgeContext): ServerEntry {
  return { ...entry, status: statusOf(entry, context) };
}

function statusOf(entry: ServerEntry, { policy, env, isTrusted }: JudgeContext): ServerStatus {
  const { name, config } = entry;
  const { command, args, url } = config ?? {};
  const refusal = policyRefusal(policy, name, config ?? {}, !config || hasReferences([command, args, url]));
  if (refusal) return disabled("policy", refusal, hintFor("policy-denied", { server: name }));
  if (!config) {
    const count = entry.diagnostics.filter(({ severity }) => severity === "error").length;
    return disabled(
      "invalid",
      count === 1 ? "it has a mistake" : `it has ${count} mistakes`,
      hintFor("config-invalid", { server: name }),
    );
  }
  if (entry.needsTrust && !isTrusted) {
    return disabled(
      "untrusted",
      "this project's entry is not trusted yet",
      `Look at it and allow it with \`plugboard trust ${shellWord(name)}\`.`,
    );
  }
  if (config.enabled === false)
    return disabled("config", "switched off", `Switch it on with \`plugboard enable ${shellWord(name)}\`.`);
  const missing = missingVariables(entry, env);
  if (missing.length > 0) {
    const error = missingValues(entry, missing);
    return disabled(
      "missing-value",
      `${missing.map(({ reference }) => reference).join(", ")} ${missing.length === 1 ? "is" : "are"} not set`,
      error.hint,
    );
  }
  return { kind: "ready" };
}

function disabled(
  reason: Extract<ServerStatus, { kind: "disabled" }>["reason"],
  message: string,
  hint: string,
): ServerStatus {
  return { kind: "disabled", reason, message, hint };
}
