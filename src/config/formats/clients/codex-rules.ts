import { isRecord } from "../../../lib/record.ts";
import { lost, settle, take } from "../draft.ts";
import { choice, type Rule } from "../fields.ts";
import { setApproval } from "../tool-rules.ts";

const approvalModes: Readonly<Record<string, string>> = {
  auto: "auto",
  prompt: "prompt",
  approve: "approve",
  writes: "auto",
};

/** Variables to hand on; one that is to come from a remote machine cannot. */
export const handedOn: Rule = {
  read: (value, field, draft) => {
    if (!Array.isArray(value)) return `\`${field}\` is not a list`;
    const names: string[] = [];
    for (const item of value as unknown[]) {
      const name = isRecord(item) ? item["name"] : item;
      if (typeof name !== "string") return `\`${field}\` holds something that is not a name`;
      if (isRecord(item) && item["source"] === "remote")
        draft.notes.push(lost(`${field}.${name}`, "comes from another machine"));
      else names.push(name);
    }
    if (names.length > 0) settle(draft, "inheritEnv", names, field);
    return undefined;
  },
  write: (draft) => take(draft, "inheritEnv"),
};

export const defaultApproval: Rule = {
  ...choice("approval.default", approvalModes),
  read: (value, field, draft) => {
    if (value === "writes") draft.notes.push(asksForWrites(field));
    return choice("approval.default", approvalModes).read(value, field, draft);
  },
};

/** `tools.<name>.approval_mode` */
export const approvalByTool: Rule = {
  read: (value, field, draft) => {
    if (!isRecord(value)) return `\`${field}\` is not an object`;
    for (const [tool, settings] of Object.entries(value)) {
      if (!isRecord(settings)) return `\`${field}.${tool}\` is not an object`;
      for (const [key, setting] of Object.entries(settings)) {
        const path = `${field}.${tool}.${key}`;
        const isMode =
          key === "approval_mode" && typeof setting === "string" && Object.hasOwn(approvalModes, setting);
        if (!isMode) draft.notes.push(lost(path, "there is nothing like it here"));
        else setApproval(draft, tool, approvalModes[setting] ?? "prompt");
        if (isMode && setting === "writes") draft.notes.push(asksForWrites(path));
      }
    }
    return undefined;
  },
  write: (draft) => {
    const modes = take(draft, "approval.tools");
    if (!isRecord(modes)) return undefined;
    const sayable = Object.entries(modes).filter(
      ([tool, mode]) => !/[*?]/.test(tool) && typeof mode === "string" && Object.hasOwn(approvalModes, mode),
    );
    if (sayable.length < Object.keys(modes).length) {
      draft.notes.push(lost("approval.tools", "Codex has neither patterns nor `deny` in its approvals"));
    }
    const written = sayable.map(([tool, mode]) => [tool, { approval_mode: mode }] as const);
    return written.length > 0 ? Object.fromEntries(written) : undefined;
  },
};

function asksForWrites(field: string) {
  const message = "`writes` becomes `auto`, which asks unless a tool says that it only reads";
  return { kind: "translated", field, message } as const;
}
