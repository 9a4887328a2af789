import { isRecord } from "../../lib/record.ts";
import { lost, needsVariable, takeField, type WriteDraft } from "./draft.ts";
import { textList } from "./fields.ts";
import type { ConfigField } from "./flat-config.ts";
import { parseTemplate } from "../template.ts";
import type { Reference } from "../template.ts";

/**
 * For clients that expand variables in values: turns our lists of variable names into such values. `own` are lists
 * that the client has a field for.
 */
export function spellOutVariables(draft: WriteDraft, own: readonly ConfigField[] = []): void {
  const { config } = draft;
  const inherited = textList(takeField(draft, "inheritEnv")) ?? [];
  const env = inherited
    .filter((name) => /^[A-Za-z_]\w*$/.test(name))
    .map((name) => [name, `\${${name}}`] as const);
  if (env.length < inherited.length) {
    draft.notes.push(
      lost("inheritEnv", `${draft.client} cannot pass on variables by pattern or with unusual names`),
    );
  }
  addTo(draft, "env", "inheritEnv", env);
  const fromEnv = Object.entries(members(takeField(draft, "headersFromEnv")));
  addTo(
    draft,
    "headers",
    "headersFromEnv",
    fromEnv.map(([header, name]) => [header, `\${${name}}`] as const),
  );
  if (config.has("bearerTokenEnv") && !own.includes("bearerTokenEnv")) {
    const name = String(takeField(draft, "bearerTokenEnv"));
    addTo(draft, "headers", "bearerTokenEnv", [["Authorization", `Bearer \${${name}}`]]);
  }
}

/** For Codex, which does not expand values: turns values that are only a variable into variable names. */
export function foldVariables(draft: WriteDraft): void {
  const inherited: string[] = textList(draft.config.get("inheritEnv")) ?? [];
  const fromEnv = new Map(Object.entries(members(draft.config.get("headersFromEnv"))));
  keep(draft, "env", (key, value) => {
    const reference = onlyReference(value);
    if (reference?.name !== key) return true;
    inherited.push(key);
    return noteVariable(draft, `env.${key}`, reference);
  });
  keep(draft, "headers", (key, value) => {
    const bearer = value.startsWith("Bearer ") && /^authorization$/i.test(key);
    const reference = onlyReference(bearer ? value.slice("Bearer ".length) : value);
    if (!reference || (bearer && draft.config.has("bearerTokenEnv"))) return true;
    if (bearer) draft.config.set("bearerTokenEnv", reference.name);
    else fromEnv.set(key, reference.name);
    return noteVariable(draft, `headers.${key}`, reference);
  });
  if (inherited.length > 0) draft.config.set("inheritEnv", [...new Set(inherited)]);
  if (fromEnv.size > 0) draft.config.set("headersFromEnv", Object.fromEntries(fromEnv));
}

function onlyReference(value: string): Reference | undefined {
  const [part, ...rest] = parseTemplate(value);
  if (part === undefined || typeof part === "string" || rest.length > 0) return undefined;
  if (part.kind !== "env" && part.kind !== "secret") return undefined;
  return part.kind === "env" && part.fallback !== undefined ? undefined : part;
}

function noteVariable(draft: WriteDraft, field: string, reference: Reference): false {
  draft.notes.push(
    reference.kind === "secret"
      ? needsVariable(field, reference.name, draft.client)
      : {
          kind: "translated",
          field,
          message: `is written as the name of the variable \`${reference.name}\``,
        },
  );
  return false;
}

function keep(draft: WriteDraft, target: ConfigField, stays: (key: string, value: string) => boolean): void {
  const entries = Object.entries(members(takeField(draft, target))).filter(([key, value]) =>
    stays(key, value),
  );
  if (entries.length > 0) draft.config.set(target, Object.fromEntries(entries));
}

function addTo(
  draft: WriteDraft,
  target: ConfigField,
  from: string,
  entries: readonly (readonly [string, string])[],
): void {
  if (entries.length === 0) return;
  draft.config.set(target, { ...members(draft.config.get(target)), ...Object.fromEntries(entries) });
  draft.notes.push({ kind: "translated", field: from, message: `is written as values in \`${target}\`` });
}

function members(value: unknown): Record<string, string> {
  return isRecord(value) ? (value as Record<string, string>) : {};
}
