import { PlugboardError } from "../errors.ts";
import { asSentence } from "../lib/sentence.ts";
import { printable } from "../lib/printable.ts";
import { nearest } from "../lib/suggest.ts";
import type { Diagnostic, LoadedConfig, Source } from "./model.ts";

/** Top-level fields that restrict what servers may do, hold all servers of a file, or say where answers are kept. */
export const ruleFields = ["approval", "elicitation", "mcpServers", "servers", "store"] as const;

type Read = Pick<LoadedConfig, "diagnostics" | "sources">;

/**
 * The first mistake of the user's own files because of which rules are missing: nothing in a file that cannot be parsed
 * is used, nor a setting with a mistake. A project's mistake concerns only the project: it must not keep the user's own
 * servers from working. A mistake inside of one server's entry concerns only that server.
 */
export function lostRule(
  { diagnostics, sources }: Read,
  fields: readonly string[] = ruleFields,
): (Diagnostic & { isWholeFile: boolean }) | undefined {
  const own = sources.filter(isOwn);
  const ownFiles = new Set(own.map(({ file }) => file));
  const broken = new Set(own.flatMap(({ file, isBroken }) => (isBroken ? [file] : [])));
  const isRule = ({ path, server }: Diagnostic) => {
    const [field = ""] = path.split(/[.[]/);
    // A rule whose name has a typo is lost too.
    return server === undefined && field !== "" && nearest(field, fields) !== undefined;
  };
  const mistake = diagnostics.find(
    (one) => one.severity === "error" && ownFiles.has(one.file) && (broken.has(one.file) || isRule(one)),
  );
  return mistake && { ...mistake, isWholeFile: broken.has(mistake.file) };
}

/** Throws if rules of the user are missing, before something is done that they may forbid. */
export function assertNoLostRule(config: Read, fields?: readonly string[]): void {
  const mistake = lostRule(config, fields);
  if (!mistake) return;
  const { path, file, line, isWholeFile, suggestion } = mistake;
  const why = isWholeFile ? "nothing in it is used" : "what has a mistake is not used";
  throw new PlugboardError(
    isWholeFile ? "config-unreadable" : "config-invalid",
    `${lostRuleText(mistake)}.`,
    {
      data: { file, line, path },
      hint: `Correct the file first. Until then ${why}.${suggestion ? ` Suggestion: ${asSentence(suggestion)}` : ""}`,
    },
  );
}

/** Where the mistake is, and what. */
export function lostRuleText({ file, line, path, message }: Diagnostic): string {
  const where = [file, line].filter((part) => part !== undefined).join(":");
  return printable([where, path, message].filter((part) => part !== "").join(": "), { oneLine: true });
}

function isOwn({ scope }: Source): boolean {
  return scope !== "project" && scope !== "plugin";
}
