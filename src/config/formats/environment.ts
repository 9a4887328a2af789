import { isRecord } from "../../lib/record.ts";
import { lost, needsVariable, take, type WriteDraft } from "./draft.ts";
import { textList } from "./fields.ts";
import type { Home } from "./homes.ts";
import { parseTemplate } from "../template.ts";
import type { Reference } from "../template.ts";

/** For clients that look variables up inside values: names of variables become such values. */
export function spellOutVariables(draft: WriteDraft): void {
  const { homes } = draft;
  const handedOn = textList(take(draft, "inheritEnv")) ?? [];
  const env = handedOn.filter((name) => /^\w+$/.test(name)).map((name) => [name, `\${${name}}`] as const);
  if (env.length < handedOn.length) {
    draft.notes.push(lost("inheritEnv", `${draft.client} cannot hand variables on by pattern`));
  }
  addTo(draft, "env", "inheritEnv", env);
  const fromEnv = Object.entries(members(take(draft, "headersFromEnv")));
  addTo(
    draft,
    "headers",
    "headersFromEnv",
    fromEnv.map(([header, name]) => [header, `\${${name}}`] as const),
  );
  if (homes.has("bearerTokenEnv")) {
    const name = String(take(draft, "bearerTokenEnv"));
    addTo(draft, "headers", "bearerTokenEnv", [["Authorization", `Bearer \${${name}}`]]);
  }
}

/** For Codex, whose values are plain text: values that are only a variable become names of variables. */
export function foldVariables(draft: WriteDraft): void {
  const handedOn: string[] = textList(draft.homes.get("inheritEnv")) ?? [];
  const fromEnv = new Map(Object.entries(members(draft.homes.get("headersFromEnv"))));
  keep(draft, "env", (key, value) => {
    const reference = onlyReference(value);
    if (reference?.name !== key) return true;
    handedOn.push(key);
    return moved(draft, `env.${key}`, reference);
  });
  keep(draft, "headers", (key, value) => {
    const bearer = value.startsWith("Bearer ") && /^authorization$/i.test(key);
    const reference = onlyReference(bearer ? value.slice("Bearer ".length) : value);
    if (!reference || (bearer && draft.homes.has("bearerTokenEnv"))) return true;
    if (bearer) draft.homes.set("bearerTokenEnv", reference.name);
    else fromEnv.set(key, reference.name);
    return moved(draft, `headers.${key}`, reference);
  });
  if (handedOn.length > 0) draft.homes.set("inheritEnv", [...new Set(handedOn)]);
  if (fromEnv.size > 0) draft.homes.set("headersFromEnv", Object.fromEntries(fromEnv));
}

function onlyReference(value: string): Reference | undefined {
  const [part, ...rest] = parseTemplate(value);
  if (part === undefined || typeof part === "string" || rest.length > 0) return undefined;
  if (part.kind !== "env" && part.kind !== "secret") return undefined;
  return part.kind === "env" && part.fallback !== undefined ? undefined : part;
}

function moved(draft: WriteDraft, field: string, reference: Reference): false {
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

function keep(draft: WriteDraft, home: Home, stays: (key: string, value: string) => boolean): void {
  const entries = Object.entries(members(take(draft, home))).filter(([key, value]) => stays(key, value));
  if (entries.length > 0) draft.homes.set(home, Object.fromEntries(entries));
}

function addTo(
  draft: WriteDraft,
  home: Home,
  from: string,
  entries: readonly (readonly [string, string])[],
): void {
  if (entries.length === 0) return;
  draft.homes.set(home, { ...members(draft.homes.get(home)), ...Object.fromEntries(entries) });
  draft.notes.push({ kind: "translated", field: from, message: `is written as values in \`${home}\`` });
}

function members(value: unknown): Record<string, string> {
  return isRecord(value) ? (value as Record<string, string>) : {};
}
