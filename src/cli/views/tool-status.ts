import { relative } from "node:path";
import { describeOrigin } from "../../config.ts";
import type { Origin } from "../../config.ts";
import type { ToolRule } from "../../host.ts";
import type { ToolEntry } from "../../index.ts";
import { isInside } from "../../lib/folders.ts";

/** `hidden by tools.deny (plugboard.yaml:5)`, or why a tool that no rule hides is not available. */
export function statusWords(
  { status, because }: Pick<ToolEntry, "status"> & { because?: string | undefined },
  rule: ToolRule | undefined,
  cwd?: string,
): string {
  if (rule) return `hidden by ${rule.rule.replace(/\[\d+\]$/, "")} (${placeFrom(rule.origin, cwd)})`;
  return because === undefined ? status : `${status}: ${because}`;
}

function placeFrom(origin: Origin, cwd: string | undefined): string {
  const { file, line } = origin;
  if (file === undefined) return describeOrigin(origin);
  const path = cwd !== undefined && isInside(cwd, file) ? relative(cwd, file) : file;
  return line === undefined ? path : `${path}:${line}`;
}
