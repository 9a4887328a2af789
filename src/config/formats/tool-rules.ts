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
      setApproval(draft, names, mode);
      return undefined;
    },
    write: (draft, field) => {
      const modes = draft.config.get("approval.tools");
      if (!isRecord(modes)) return undefined;
      const isListed = ([tool, set]: [string, unknown]) => set === mode && !/[*?]/.test(tool);
      const listed = Object.entries(modes).filter(isListed);
      const others = Object.entries(modes).filter((entry) => !isListed(entry));
      draft.config.delete("approval.tools");
      if (others.length > 0)
        draft.notes.push(
          lost("approval.tools", `${draft.client} has only a list of tools to approve, in \`${field}\``),
        );
      return listed.length > 0 ? listed.map(([tool]) => tool) : undefined;
    },
  };
}

export function setApproval(draft: ReadDraft, tools: readonly string[], mode: string): void {
  if (tools.length === 0) return;
  const set = draft.config.get("approval.tools");
  const before = isRecord(set) ? Object.entries(set) : [];
  const added = tools.map((tool) => [tool, mode] as const);
  draft.config.set("approval.tools", Object.fromEntries([...before, ...added]));
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
