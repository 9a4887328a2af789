import { isRecord } from "../../../lib/record.ts";
import { lost, noEquivalent, setField, takeField, type WriteDraft } from "../draft.ts";
import { choice, type Rule } from "../fields.ts";
import { setApproval } from "../tool-rules.ts";

const approvalModes: Readonly<Record<string, string>> = {
  auto: "auto",
  prompt: "prompt",
  approve: "approve",
  writes: "auto",
};

/** Variables to pass on; one that comes from a remote machine is not supported. */
export const inheritedVariables: Rule = {
  read: (value, field, draft) => {
    if (!Array.isArray(value)) return `\`${field}\` is not a list`;
    const names: string[] = [];
    for (const item of value as unknown[]) {
      const name = isRecord(item) ? item["name"] : item;
      if (typeof name !== "string") return `\`${field}\` is not a list of names`;
      if (isRecord(item) && item["source"] === "remote")
        draft.notes.push(lost(`${field}.${name}`, "comes from another machine"));
      else names.push(name);
    }
    if (names.length > 0) setField(draft, "inheritEnv", names, field);
    return undefined;
  },
  write: (draft) => takeField(draft, "inheritEnv"),
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
    const byMode = new Map<string, string[]>();
    for (const [tool, settings] of Object.entries(value)) {
      if (!isRecord(settings)) return `\`${field}.${tool}\` is not an object`;
      for (const [key, setting] of Object.entries(settings)) {
        const path = `${field}.${tool}.${key}`;
        const isMode =
          key === "approval_mode" && typeof setting === "string" && Object.hasOwn(approvalModes, setting);
        if (!isMode) draft.notes.push(lost(path, noEquivalent));
        else {
          const mode = approvalModes[setting] ?? "prompt";
          byMode
            .set(mode, byMode.get(mode) ?? [])
            .get(mode)
            ?.push(tool);
        }
        if (isMode && setting === "writes") draft.notes.push(asksForWrites(path));
      }
    }
    for (const [mode, tools] of byMode) setApproval(draft, tools, mode);
    return undefined;
  },
  write: (draft) => {
    const modes = takeField(draft, "approval.tools");
    if (!isRecord(modes)) return undefined;
    const supported = Object.entries(modes).filter(
      ([tool, mode]) => !/[*?]/.test(tool) && typeof mode === "string" && Object.hasOwn(approvalModes, mode),
    );
    if (supported.length < Object.keys(modes).length) {
      draft.notes.push(lost("approval.tools", "Codex does not support patterns or `deny` in its approvals"));
    }
    const written = supported.map(([tool, mode]) => [tool, { approval_mode: mode }] as const);
    return written.length > 0 ? Object.fromEntries(written) : undefined;
  },
};

function asksForWrites(field: string) {
  const message = "`writes` becomes `auto`, which asks unless a tool is marked as read-only";
  return { kind: "translated", field, message } as const;
}

/** Codex lists a server with another name, but does not start it. */
export function noteUnusableName({ name, notes, client }: WriteDraft): void {
  if (/^[\w:@/.-]+$/.test(name)) return;
  notes.push(lost("name", `${client} only starts servers whose names consist of A-Z, a-z, 0-9 and _:@/.-`));
}
