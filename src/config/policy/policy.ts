import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { PlugboardError } from "../../errors.ts";
import { canonicalJson } from "../../lib/canonical.ts";
import { readBoundedFile } from "../../lib/bounded-file.ts";
import type { Environment } from "../../lib/folders.ts";
import { defined, own } from "../../lib/record.ts";
import { check } from "../diagnose.ts";
import { findSpan, formatPath, parseDocument, positionAt, positionsIn } from "../documents/document.ts";
import type { ConfigDocument, Path } from "../documents/document.ts";
import { hasReferences, identityOf, referenceKinds } from "../expand.ts";
import type { Diagnostic, Origin, ServerEntry } from "../model.ts";
import { workingFolder } from "../places.ts";
import type { ServerConfig } from "../server-schema.ts";
import { codeVariable, findProgram, isPathVariable } from "./command-rule.ts";
import { describeRule, matchesRule, nothingKnown, rule, ruleFindings } from "./rules.ts";
import type { Known, Rule, RuleSubject } from "./rules.ts";
import { uselessRules } from "../approval/mistakes.ts";
import { managedApproval } from "../approval/schema.ts";
import type { ManagedApproval } from "../approval/schema.ts";
import { urlParts } from "./url-rule.ts";

const policySchema = z.strictObject({
  $schema: z.optional(z.string()),
  mcpServers: z.optional(z.record(z.string(), z.unknown())),
  allowedMcpServers: z.optional(z.array(rule)),
  deniedMcpServers: z.optional(z.array(rule)),
  approval: z.optional(managedApproval),
});

/** The machine administrator's rules. They restrict all other configuration, and nothing overrides them. */
export interface ManagedPolicy {
  file?: string;
  /** If set, only these servers exist; users cannot add others. */
  exclusive?: Record<string, unknown>;
  allowed?: Rule[];
  denied: Rule[];
  /** What has to be asked about or is denied, whatever the user configures. */
  approval?: ManagedApproval;
  /** Why the policy cannot be applied as it is written. If set, no server is allowed. */
  broken?: string;
  /** The line of each list, and of each rule that denies or is about approval, by its path: `deniedMcpServers[0]`. */
  lines?: Record<string, number>;
  /** Rules that allow nothing, with the reason. */
  warnings?: Diagnostic[];
}

export const noPolicy: ManagedPolicy = { denied: [] };

const policyFile = (folder: string) => join(folder, "managed.json");

/** The policy in a folder; undefined if there certainly is none, so that nobody has to wait for it. */
export function policyIn(folder: string): Promise<ManagedPolicy> | undefined {
  return hasNoPolicy(folder) ? undefined : loadPolicy(folder);
}

function hasNoPolicy(folder: string): boolean {
  return isAbsent(policyFile(folder)) && brokenLink(folder) === undefined;
}

function isAbsent(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** The folder or the file of a policy, if it is a link to something that is not there, such as a share not mounted yet. */
function brokenLink(folder: string): string | undefined {
  return [folder, policyFile(folder)].find((path) => !isAbsent(path) && !existsSync(path));
}

export async function loadPolicy(folder: string): Promise<ManagedPolicy> {
  const file = policyFile(folder);
  const read = await readBoundedFile(file, 1_000_000);
  if (read.kind === "missing") {
    const link = brokenLink(folder);
    return link === undefined ? noPolicy : { file, denied: [], broken: `${link} leads to no file` };
  }
  if (read.kind === "refused") return { file, denied: [], broken: `${file} ${read.reason}` };
  // A file that was cut off while it was written must not pass for one without rules.
  if (read.text.trim() === "") return { file, denied: [], broken: `${file} is empty` };
  const document = await parseDocument(read.text, "json");
  const [problem] = document.problems;
  if (problem) return { file, denied: [], broken: `${file}: ${problem.message}` };
  const { data, findings } = check(policySchema, document.value, []);
  const found = data ? [...ruleFindings(data), ...uselessRules(data.approval)] : findings;
  const fault = found.find(({ severity }) => severity === "error");
  const at = fault && fault.path.length > 0 ? `${formatPath(fault.path)}: ` : "";
  if (!data || fault) return { file, denied: [], broken: `${file}: ${at}${fault?.message}` };
  const warnings = found.map(({ path, ...finding }): Diagnostic => {
    const span = findSpan(document, path);
    return { ...finding, path: formatPath(path), file, ...(span && positionAt(read.text, span.start)) };
  });
  return {
    file,
    lines: linesOf(document, read.text, data),
    denied: data.deniedMcpServers ?? [],
    ...(data.mcpServers && { exclusive: data.mcpServers }),
    ...(data.allowedMcpServers && { allowed: data.allowedMcpServers }),
    ...(data.approval !== undefined && { approval: data.approval }),
    ...(warnings.length > 0 && { warnings }),
  };
}

function linesOf(
  document: ConfigDocument,
  text: string,
  { deniedMcpServers: denied = [], approval }: z.output<typeof policySchema>,
): Record<string, number> {
  const { tools = {}, rules = [] } = typeof approval === "object" ? approval : {};
  const paths: Path[] = [
    ...["mcpServers", "allowedMcpServers", "approval"].map((key) => [key]),
    ...denied.map((_, index) => ["deniedMcpServers", index]),
    ["approval", "default"],
    ...Object.keys(tools).map((glob) => ["approval", "tools", glob]),
    ...rules.map((_, index) => ["approval", "rules", index]),
  ];
  const positionIn = positionsIn(text);
  const lines: Record<string, number> = {};
  for (const path of paths) {
    const span = findSpan(document, path);
    if (span) lines[formatPath(path)] = positionIn(span.start).line;
  }
  return lines;
}

/** Where a rule of the policy about approval is written. */
export function policyOrigin({ file, lines = {} }: ManagedPolicy, path: string): Origin {
  return { scope: "managed", ...defined({ file, line: lines[path] }) };
}

/** The policy's file, with the line of the given list or rule. */
function placeIn({ file, lines = {} }: ManagedPolicy, path: string): string {
  return lines[path] === undefined ? `${file}` : `${file}:${lines[path]}`;
}

/** What a verdict is about: an entry as written, or with its values filled in. */
export interface Judged {
  entry: Pick<ServerEntry, "name" | "written" | "config" | "baseDir" | "origin">;
  /** The configuration with its values filled in; without it, the entry is judged as written. */
  expanded?: ServerConfig;
  /** The server is an object of this program, so there is no command or URL. */
  isInProcess?: boolean | undefined;
  /** Plugboard's own environment. */
  env: Environment;
  /** The folder that the server runs in, if it is not the usual one. */
  folder?: string | undefined;
  /** Passed on from one entry to the next where many are judged at once. */
  known?: Known | undefined;
}

/**
 * Explains why the policy refuses a server; undefined if it does not. Asked when an entry is loaded, and again with its
 * values filled in, before anything is started or sent. As long as values are missing, an entry that could still be
 * allowed is not refused.
 */
export function policyRefusal(policy: ManagedPolicy, judged: Judged): string | undefined {
  const { entry, env, isInProcess } = judged;
  const { name } = entry;
  if (policy.broken) return `not allowed because the managed policy cannot be applied (${policy.broken})`;
  const config = isInProcess ? {} : (judged.expanded ?? entry.config ?? {});
  const folder = judged.folder ?? config.cwd ?? workingFolder(entry);
  const path = own(config.env, "PATH") ?? env["PATH"];
  const subject: RuleSubject = {
    name,
    config,
    env,
    program: lazily(() => findProgram(config.command ?? "", { ...env, PATH: path }, folder)),
    url: config.url === undefined ? undefined : urlParts(config.url),
    known: judged.known ?? nothingKnown(),
  };
  for (const [index, one] of policy.denied.entries())
    if (matchesRule(one, subject, "any"))
      return `denied by ${describeRule(one)} in ${placeIn(policy, `deniedMcpServers[${index}]`)}`;
  if (policy.exclusive && !isInExclusiveSet(policy.exclusive, entry))
    return `not one of the servers in ${placeIn(policy, "mcpServers")}, and no others are allowed`;
  if (!entry.config) return undefined;
  const isOpen = !judged.expanded && !isInProcess && hasReferences(identityOf(config));
  if (isOpen && looksInside(policy, config) && referenceKinds(identityOf(config)).has("cmd"))
    return `not allowed by ${policy.file}: what it runs or contacts comes from \`\${cmd:…}\`, which would run before the policy can be asked`;
  const place = placeIn(policy, "allowedMcpServers");
  return policy.allowed && allowRefusal(policy.allowed, subject, isOpen, place);
}

function lazily<T>(work: () => T): () => T {
  let done: { value: T } | undefined;
  return () => (done ??= { value: work() }).value;
}

export function assertAllowed(policy: ManagedPolicy, judged: Judged): void {
  const { name } = judged.entry;
  const refusal = policyRefusal(policy, judged);
  if (refusal) throw new PlugboardError("policy-denied", `Server "${name}" is ${refusal}.`, { server: name });
}

/** By content: another server under a name of the set is another server. */
function isInExclusiveSet(exclusive: Record<string, unknown>, { name, written }: Judged["entry"]): boolean {
  return Object.hasOwn(exclusive, name) && canonicalJson(own(exclusive, name)) === canonicalJson(written);
}

type RuleKind = "serverName" | "serverCommand" | "serverUrl";

/** Rules for commands or URLs are stricter than rules for names: if there are any, a matching name is not enough. */
function decisiveKind(rules: readonly Rule[], { command, url }: ServerConfig): RuleKind {
  const kind = url !== undefined ? "serverUrl" : command !== undefined ? "serverCommand" : "serverName";
  return rules.some((one) => kind in one) ? kind : "serverName";
}

function looksInside({ allowed = [], denied }: ManagedPolicy, config: ServerConfig): boolean {
  const kind = config.url !== undefined ? "serverUrl" : "serverCommand";
  return [...allowed, ...denied].some((one) => kind in one);
}

function allowRefusal(
  rules: readonly Rule[],
  subject: RuleSubject,
  isOpen: boolean,
  file: string,
): string | undefined {
  const { config } = subject;
  const kind = decisiveKind(rules, config);
  const matching = rules.find((one) => kind in one && matchesRule(one, subject, "all"));
  const variable = kind === "serverCommand" ? codeVariable(config, subject.env) : undefined;
  const isKnown = variable !== undefined && !(isOpen && isPathVariable(variable));
  if (matching && isKnown)
    return `not allowed by ${file}: it sets ${variable}, which can make an allowed command run other code`;
  if (matching || (isOpen && kind !== "serverName")) return undefined;
  return `not on the list of allowed servers in ${file}`;
}
