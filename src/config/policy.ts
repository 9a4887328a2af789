import { join } from "node:path";
import * as z from "zod/mini";
import { PlugboardError } from "../errors.ts";
import { canonicalJson } from "../lib/canonical.ts";
import { readBoundedFile } from "../lib/bounded-file.ts";
import { matchesGlob } from "../lib/glob.ts";
import { isRecord } from "../lib/record.ts";
import { check } from "./diagnose.ts";
import { formatPath, parseDocument } from "./documents/document.ts";
import type { ServerConfig } from "./server-schema.ts";

const rule = z.union(
  [
    z.strictObject({ serverName: z.string() }),
    z.strictObject({ serverCommand: z.array(z.string()).check(z.minLength(1)) }),
    z.strictObject({ serverUrl: z.string() }),
  ],
  { error: "expected `{ serverName }`, `{ serverCommand: [command, …args] }` or `{ serverUrl }`" },
);

const policySchema = z.strictObject({
  $schema: z.optional(z.string()),
  mcpServers: z.optional(z.record(z.string(), z.unknown())),
  allowedMcpServers: z.optional(z.array(rule)),
  deniedMcpServers: z.optional(z.array(rule)),
});

type Rule = z.output<typeof rule>;

/** The machine administrator's rules. They restrict all other configuration, and nothing overrides them. */
export interface ManagedPolicy {
  file?: string;
  /** If set, only these servers exist; users cannot add others. */
  exclusive?: Record<string, unknown>;
  allowed?: Rule[];
  denied: Rule[];
  /** Why the policy file cannot be read. If set, no server is allowed. */
  broken?: string;
}

export const noPolicy: ManagedPolicy = { denied: [] };

export async function loadPolicy(folder: string): Promise<ManagedPolicy> {
  const file = join(folder, "managed.json");
  const read = await readBoundedFile(file, 1_000_000);
  if (read.kind === "missing") return noPolicy;
  if (read.kind === "refused") return { file, denied: [], broken: `${file} ${read.reason}` };
  const document = await parseDocument(read.text, "json");
  const [problem] = document.problems;
  if (problem) return { file, denied: [], broken: `${file}: ${problem.message}` };
  const { data, findings } = check(policySchema, document.value, []);
  const [finding] = findings;
  if (!data)
    return { file, denied: [], broken: `${file}: ${formatPath(finding?.path ?? [])}: ${finding?.message}` };
  return {
    file,
    denied: data.deniedMcpServers ?? [],
    ...(data.mcpServers && isRecord(data.mcpServers) ? { exclusive: data.mcpServers } : {}),
    ...(data.allowedMcpServers ? { allowed: data.allowedMcpServers } : {}),
  };
}

/**
 * Explains why the policy refuses a server; undefined if it does not. Called at load with the entry as written, and
 * again before connecting with values filled in. Strings that still contain references match no allow rule, so pass
 * `undecided` at load to leave the decision to the second check.
 */
export function policyRefusal(
  policy: ManagedPolicy,
  name: string,
  config: ServerConfig,
  undecided = false,
): string | undefined {
  if (policy.broken) return `not allowed because the managed policy cannot be read (${policy.broken})`;
  const denied = policy.denied.find((entry) => matches(entry, name, config));
  if (denied) return `denied by ${describe(denied)} in ${policy.file}`;
  if (policy.exclusive && !Object.hasOwn(policy.exclusive, name)) {
    return `not one of the servers in ${policy.file}, and no others are allowed`;
  }
  if (!policy.allowed || undecided || isAllowed(policy.allowed, name, config)) return undefined;
  return `not on the list of allowed servers in ${policy.file}`;
}

export function assertAllowed(policy: ManagedPolicy, name: string, config: ServerConfig): void {
  const refusal = policyRefusal(policy, name, config);
  if (refusal) throw new PlugboardError("policy-denied", `Server "${name}" is ${refusal}.`, { server: name });
}

/** Rules for commands or URLs are stricter than rules for names: if there are any, a matching name is not enough. */
function isAllowed(rules: readonly Rule[], name: string, config: ServerConfig): boolean {
  const kind = config.url === undefined ? "serverCommand" : "serverUrl";
  const strict = rules.filter((entry) => kind in entry);
  const candidates = strict.length > 0 ? strict : rules.filter((entry) => "serverName" in entry);
  return candidates.some((entry) => matches(entry, name, config));
}

function matches(entry: Rule, name: string, config: ServerConfig): boolean {
  if ("serverName" in entry) return matchesGlob(entry.serverName.toLowerCase(), name.toLowerCase());
  if ("serverCommand" in entry) {
    return (
      config.command !== undefined &&
      canonicalJson([config.command, ...(config.args ?? [])]) === canonicalJson(entry.serverCommand)
    );
  }
  return config.url !== undefined && matchesUrl(entry.serverUrl, config.url);
}

/**
 * Compares scheme, host, port and path separately, on the normalised URL: a `*` in the host never matches part of the
 * path, and a user name, trailing dot, capital letter or default port cannot bypass a rule. A rule without a port
 * matches every port. A rule without a path matches only the root, unless its host ends in `*`.
 */
function matchesUrl(rule: string, text: string): boolean {
  const parts = /^([^:/]+):\/\/([^/?#:]*)(?::([^/?#]*))?(.*)$/.exec(rule);
  const url = URL.parse(text);
  if (!parts || !url) return false;
  const [, scheme = "", host = "", port, path = ""] = parts;
  const hostname = url.hostname.replace(/\.$/, "").toLowerCase();
  const anyPath = path === "" && host.endsWith("*");
  return (
    matchesGlob(`${scheme.toLowerCase()}:`, url.protocol) &&
    matchesGlob(host.toLowerCase(), hostname) &&
    (port === undefined || matchesGlob(port, url.port || defaultPort(url.protocol))) &&
    (anyPath ||
      [url.pathname + url.search, url.pathname.replace(/\/$/, "") + url.search].some((spelling) =>
        matchesGlob(path, spelling),
      ))
  );
}

function defaultPort(protocol: string): string {
  return protocol === "https:" ? "443" : "80";
}

function describe(entry: Rule): string {
  if ("serverName" in entry) return `the rule for the name "${entry.serverName}"`;
  if ("serverCommand" in entry) return `the rule for the command "${entry.serverCommand.join(" ")}"`;
  return `the rule for the URL "${entry.serverUrl}"`;
}
