import * as z from "zod/mini";
import { canonicalJson } from "../../lib/canonical.ts";
import { matchesGlob } from "../../lib/glob.ts";
import type { Finding } from "../diagnose.ts";
import { commandRuleProblem, matchesCommand } from "./command-rule.ts";
import type { CommandSubject, KnownPrograms } from "./command-rule.ts";
import { matchesUrl, urlRuleProblem } from "./url-rule.ts";
import type { KnownUrlRules, Readings, UrlParts } from "./url-rule.ts";
import { shownArgs, shownUrl } from "../show/references.ts";

export const rule = z.union(
  [
    z.strictObject({ serverName: z.string() }),
    z.strictObject({ serverCommand: z.array(z.string()).check(z.minLength(1)) }),
    z.strictObject({ serverUrl: z.string() }),
  ],
  { error: "expected `{ serverName }`, `{ serverCommand: [command, …args] }` or `{ serverUrl }`" },
);

/** A rule of the managed policy about servers. */
export type Rule = z.output<typeof rule>;

/**
 * What judging has found out about rules and programs. Kept while many entries are judged, so that thousands of them
 * under hundreds of rules do not search the disk for every pair.
 */
export interface Known {
  urlRules: KnownUrlRules;
  programs: KnownPrograms;
}

export const nothingKnown = (): Known => ({
  urlRules: new Map(),
  programs: { meant: new Map(), real: new Map() },
});

/** What a rule looks at. */
export interface RuleSubject extends CommandSubject {
  name: string;
  url: UrlParts | undefined;
  known: Known;
}

export function matchesRule(one: Rule, subject: RuleSubject, readings: Readings): boolean {
  const { name, url, known } = subject;
  if ("serverName" in one) return matchesName(one.serverName, name, readings);
  if ("serverCommand" in one) return matchesCommand(one.serverCommand, subject, readings, known.programs);
  return url !== undefined && matchesUrl(one.serverUrl, url, readings, known.urlRules);
}

/** Letters of another width or form look the same to a person, so a rule that denies matches them too. */
function matchesName(pattern: string, name: string, readings: Readings): boolean {
  if (matchesGlob(pattern.toLowerCase(), name.toLowerCase())) return true;
  return readings === "any" && matchesGlob(plainName(pattern), plainName(name));
}

export function plainName(name: string): string {
  return name.normalize("NFKC").trim().toLowerCase();
}

export function describeRule(one: Rule): string {
  if ("serverName" in one) return `the rule for the name "${one.serverName}"`;
  if ("serverCommand" in one) return `the rule for the command "${shownArgs(one.serverCommand).join(" ")}"`;
  return `the rule for the URL "${shownUrl(one.serverUrl)}"`;
}

interface Lists {
  allowedMcpServers?: Rule[] | undefined;
  deniedMcpServers?: Rule[] | undefined;
}

/**
 * Rules that do not do what they say. One that denies and cannot match is an error, because something that should be
 * denied is not; one that allows is a warning.
 */
export function ruleFindings({
  allowedMcpServers: allowed = [],
  deniedMcpServers: denied = [],
}: Lists): Finding[] {
  const at = (list: string, index: number, rest: Pick<Finding, "severity" | "message">): Finding => ({
    ...rest,
    path: [list, index],
  });
  const kinds = new Set(allowed.flatMap((one) => Object.keys(one)));
  const deniedWords = new Set(denied.map((one) => canonicalJson(one)));
  return [
    ...denied.flatMap((one, index) => {
      const problem = ruleProblem(one);
      const message = `this rule denies nothing: ${problem}`;
      return problem === undefined ? [] : [at("deniedMcpServers", index, { severity: "error", message })];
    }),
    ...allowed.flatMap((one, index) => {
      const problem =
        ruleProblem(one) ??
        (deniedWords.has(canonicalJson(one))
          ? "deniedMcpServers has the same rule, and it wins"
          : undefined) ??
        ("serverName" in one && kinds.has("serverCommand") && kinds.has("serverUrl")
          ? "there are also rules for commands and URLs, and a name is not enough then"
          : undefined);
      const message = `this rule allows nothing: ${problem}`;
      return problem === undefined ? [] : [at("allowedMcpServers", index, { severity: "warning", message })];
    }),
  ];
}

function ruleProblem(one: Rule): string | undefined {
  if ("serverName" in one) return one.serverName.trim() === "" ? "no server has an empty name" : undefined;
  if ("serverCommand" in one) return commandRuleProblem(one.serverCommand);
  return urlRuleProblem(one.serverUrl);
}
