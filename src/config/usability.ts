import type { Environment } from "../lib/folders.ts";
import { cannotCheck } from "./diagnose.ts";
import { missingSecrets, missingVariables } from "./expand.ts";
import type { SecretSource } from "./expand.ts";
import { missingName, missingValues } from "./missing-values.ts";
import type { MissingValue } from "./missing-values.ts";
import { positionOf } from "./model.ts";
import type { Diagnostic, ServerEntry, ServerStatus } from "./model.ts";
import { policyRefusal } from "./policy/policy.ts";
import type { Judged, ManagedPolicy } from "./policy/policy.ts";
import type { TrustVerdict } from "./trust/judge.ts";
import { hintFor } from "../errors.ts";
import { shellWord } from "../lib/argv.ts";

export interface JudgeContext {
  policy: ManagedPolicy;
  env: Environment;
  /** Whether this user has trusted the entry; only matters for entries that need trust. */
  trust: TrustVerdict;
  /** The server is an object of this program. */
  isInProcess?: boolean;
  known?: Judged["known"];
}

/** Decides whether an entry may be used. Reports the strongest reason only: policy, mistakes, trust, disabled, missing values. */
export function judgeServer(entry: ServerEntry, context: JudgeContext): ServerEntry {
  try {
    const { trust } = context;
    const covered = entry.needsTrust && trust.isTrusted && { trustedScripts: trust.scripts };
    return { ...entry, ...covered, status: statusOf(entry, context) };
  } catch (error) {
    return unjudged(entry, error);
  }
}

/** What goes wrong with one entry is a mistake of that entry. It is not used, and the others go on. */
function unjudged(judged: ServerEntry, error: unknown): ServerEntry {
  const { config: _, ...entry } = judged;
  const { name, origin } = entry;
  const message = cannotCheck(error);
  const about = { path: `mcpServers.${name}`, server: name, ...positionOf(origin) };
  const diagnostics: Diagnostic[] = [...entry.diagnostics, { severity: "error", message, ...about }];
  return { ...entry, diagnostics, status: invalid(name, diagnostics) };
}

function statusOf(entry: ServerEntry, context: JudgeContext): ServerStatus {
  const { policy, env, trust, isInProcess, known } = context;
  const { name, config } = entry;
  const refusal = policyRefusal(policy, { entry, env, isInProcess, known });
  if (refusal) return disabled("policy", refusal, hintFor("policy-denied", { server: name }));
  if (!config) return invalid(name, entry.diagnostics);
  if (entry.needsTrust && !trust.isTrusted) {
    return disabled(
      "untrusted",
      trust.why,
      `Review and allow it with \`plugboard trust ${shellWord(name)}\`.`,
    );
  }
  if (config.enabled === false)
    return disabled("off", "switched off", `Switch it on with \`plugboard enable ${shellWord(name)}\`.`);
  return missingStatus(entry, missingVariables(entry, env));
}

/** The same entries where a secret that is not set counts as missing too. Looks the secrets up, and shows none. */
export async function judgeSecrets(
  entries: readonly ServerEntry[],
  { env, secrets }: { env: Environment; secrets: SecretSource },
): Promise<ServerEntry[]> {
  const known = new Map<string, Promise<string | undefined>>();
  const once: SecretSource = (name) => {
    const value = known.get(name) ?? secrets(name);
    known.set(name, value);
    return value;
  };
  return Promise.all(
    entries.map(async (entry) => {
      const { status } = entry;
      if (status.kind === "disabled" && status.reason !== "missing-value") return entry;
      const missing = [...missingVariables(entry, env), ...(await missingSecrets(entry, once))];
      return { ...entry, status: missingStatus(entry, missing) };
    }),
  );
}

function missingStatus(entry: ServerEntry, missing: readonly MissingValue[]): ServerStatus {
  if (missing.length === 0) return { kind: "ready" };
  const names = [...new Set(missing.map(({ reference }) => missingName(reference)))];
  const message = `${names.join(", ")} ${names.length === 1 ? "is" : "are"} not set`;
  return disabled("missing-value", message, missingValues(entry, missing).hint);
}

function invalid(server: string, diagnostics: readonly Diagnostic[]): ServerStatus {
  const count = diagnostics.filter(({ severity }) => severity === "error").length;
  const message = count === 1 ? "it has a mistake" : `it has ${count} mistakes`;
  return disabled("invalid", message, hintFor("config-invalid", { server }));
}

function disabled(
  reason: Extract<ServerStatus, { kind: "disabled" }>["reason"],
  message: string,
  hint: string,
): ServerStatus {
  return { kind: "disabled", reason, message, hint };
}
