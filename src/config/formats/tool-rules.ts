import { isRecord } from "../../lib/record.ts";
import { lost, type ReadDraft, settle, take, type WriteDraft } from "./draft.ts";
import { type Rule, textList } from "./fields.ts";

/** The list of tools to offer. Clients disagree on what an empty list means; for us it is a mistake. */
export function allowed({ empty }: { empty: "every tool" | "no tool" }): Rule {
  return {
    read: (value, field, draft) => {
      const names = textList(value);
      if (!names) return notNames(field);
      if (names.length === 0 && empty === "no tool") deny(draft, ["*"]);
      else if (names.length > 0 && !names.includes("*")) settle(draft, "tools.allow", names, field);
      return undefined;
    },
    write: (draft, field) => {
      const deniesAll = textList(draft.homes.get("tools.deny"))?.includes("*");
      if (deniesAll && empty === "no tool") {
        draft.homes.delete("tools.deny");
        draft.homes.delete("tools.allow");
        return [];
      }
      return plainNames(take(draft, "tools.allow"), "tools.allow", field, draft);
    },
  };
}

/** The list of tools to hide; several spellings of it add up. */
export const denied: Rule = {
  read: (value, field, draft) => {
    const names = textList(value);
    if (!names) return notNames(field);
    deny(draft, names);
    return undefined;
  },
  write: (draft, field) => {
    const names = plainNames(take(draft, "tools.deny"), "tools.deny", field, draft);
    return names && names.length > 0 ? names : undefined;
  },
};

/** A list of tools that all get the same answer without or with a question. */
export function answered(mode: "approve" | "prompt"): Rule {
  return {
    read: (value, field, draft) => {
      const names = textList(value);
      if (!names) return notNames(field);
      for (const name of names) setApproval(draft, name, mode);
      return undefined;
    },
  };
}

export function setApproval(draft: ReadDraft, tool: string, mode: string): void {
  const tools = draft.homes.get("approval.tools");
  const before = isRecord(tools) ? Object.entries(tools) : [];
  draft.homes.set("approval.tools", Object.fromEntries([...before, [tool, mode]]));
}

export function deny(draft: ReadDraft, names: readonly string[]): void {
  const before = textList(draft.homes.get("tools.deny")) ?? [];
  if (names.length > 0) draft.homes.set("tools.deny", [...new Set([...before, ...names])]);
}

/** Other clients compare names to the letter, so patterns are left out rather than written where they match nothing. */
function plainNames(
  value: unknown,
  home: "tools.allow" | "tools.deny",
  field: string,
  draft: WriteDraft,
): string[] | undefined {
  const names = textList(value);
  if (names?.some((name) => /[*?]/.test(name))) {
    draft.notes.push(lost(home, `${draft.client} knows no patterns: list the tools by name in \`${field}\``));
  }
  return names?.filter((name) => !/[*?]/.test(name));
}

function notNames(field: string): string {
  return `\`${field}\` is not a list of tool names`;
}
