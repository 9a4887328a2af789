import type { Conditions } from "../../config/approval/schema.ts";
import { nameText } from "../../lib/name-text.ts";
import type { ApprovalRecord, ApprovalSubject } from "./record.ts";
import type { Recalled } from "./remembered.ts";

/** What remembering an answer would cover, or covers. */
export function coversWords({
  server,
  tool,
  when = [],
  caller,
  account,
  project,
}: Pick<ApprovalRecord, "server" | "tool" | "when" | "caller" | "account" | "project">): string {
  const args =
    when.length === 0 ? "any arguments" : `arguments where ${when.map(conditionWords).join(", and ")}`;
  const whose = [
    ...(caller === undefined ? [] : [`by ${JSON.stringify(caller)}`]),
    ...(account === undefined || account === "default" ? [] : [`as "${account}"`]),
    ...(project === undefined ? [] : [`in ${project}`]),
  ].join(" ");
  return `${nameText(tool)} of "${server}" with ${args}${whose === "" ? "" : `, called ${whose}`}`;
}

export function subjectCovers({ tool, when, caller, key: { account, project } }: ApprovalSubject): string {
  return coversWords({
    server: tool.server,
    tool: tool.name,
    when: [...when],
    ...(caller !== undefined && { caller }),
    ...(account !== undefined && { account }),
    ...(project !== undefined && { project }),
  });
}

/** Conditions in words, for example `/path matches docs/* or notes/*`. */
export function conditionWords(when: Conditions): string {
  return Object.entries(when)
    .map(([pointer, globs]) => `${pointer} matches ${typeof globs === "string" ? globs : globs.join(" or ")}`)
    .join(" and ");
}

/** Why an earlier answer does not count any more. */
export function forgottenWords(
  recalled: Recalled | undefined,
  problem: string | undefined,
): string | undefined {
  if (problem !== undefined) return `remembered answers cannot be read (${problem})`;
  if (!recalled?.changed) return undefined;
  const { record, remembered, changed } = recalled;
  const when =
    remembered === "always"
      ? `always on ${new Date(record.at).toISOString().slice(0, 10)}`
      : "for this session";
  return `it was allowed ${when}, but ${changedWords(changed)}`;
}

export function changedWords(changed: NonNullable<Recalled["changed"]>): string {
  return `${changedThings[changed]} has changed since`;
}

const changedThings = {
  server: "the configuration of the server",
  target: "what the server runs or contacts",
  tool: "the definition of the tool",
};
