import { isRecord } from "../../lib/record.ts";
import { lost, type ReadDraft, setField, takeField, type WriteDraft } from "./draft.ts";
import { type Rule, textList } from "./fields.ts";

/** The list of tools to offer. Clients disagree on what an empty list means; in Plugboard it is a mistake. */
export function allowed({ empty }: { empty: "every tool" | "no tool" }): Rule {
  return {
    read: (value, field, draft) => {
      const names = textList(value);
      if (!names) return notNames(field);
      if (names.length === 0 && empty === "no tool") deny(draft, ["*"]);
      else if (names.length > 0 && !names.includes("*")) setField(draft, "tools.allow", names, field);
      return undefined;
    },
    write: (draft, field) => {
      const deniesAll = textList(draft.config.get("tools.deny"))?.includes("*");
      if (deniesAll && empty === "no tool") {
        draft.config.delete("tools.deny");
        draft.config.delete("tools.allow");
        return [];
      }
      return plainNames(takeField(draft, "tools.allow"), "tools.allow", field, draft);
    },
  };
}

/** The list of tools to hide; if a client has several such fields, they are combined. */
export const denied: Rule = {
  read: (value, field, draft) => {
    const names = textList(value);
    if (!names) return notNames(field);
    deny(draft, names);
    return undefined;
  },
  write: (draft, field) => {
    const names = plainNames(takeField(draft, "tools.deny"), "tools.deny", field, draft);
    return names && names.length > 0 ? names : undefined;
  },
};

/** A list of tools with the same approval mode. */
export function approvalList(mode: "approve" | "prompt"): Rule {
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
  const tools = draft.config.get("approval.tools");
  const before = isRecord(tools) ? Object.entries(tools) : [];
  draft.config.set("approval.tools", Object.fromEntries([...before, [tool, mode]]));
}

export function deny(draft: ReadDraft, names: readonly string[]): void {
  const before = textList(draft.config.get("tools.deny")) ?? [];
  if (names.length > 0) draft.config.set("tools.deny", [...new Set([...before, ...names])]);
}

/** Other clients compare names literally, where a pattern would match nothing, so patterns are left out. */
function plainNames(
  value: unknown,
  target: "tools.allow" | "tools.deny",
  field: string,
  draft: WriteDraft,
): string[] | undefined {
  const names = textList(value);
  if (names?.some((name) => /[*?]/.test(name))) {
    draft.notes.push(
      lost(target, `${draft.client} does not support patterns: list the tools by name in \`${field}\``),
    );
  }
  return names?.filter((name) => !/[*?]/.test(name));
}

function notNames(field: string): string {
  return `\`${field}\` is not a list of tool names`;
}
