import type { Note, ReadContext } from "./format.ts";
import { shellWord } from "../../lib/argv.ts";
import type { Home, Homes } from "./homes.ts";
import { parseTemplate } from "../template.ts";
import { type Part, printReference, printReferences, type Reference, withoutFallback } from "./references.ts";
import type { VariableSyntax } from "./variables.ts";

/** One server on its way in: what was understood so far, and what there is to say about it. */
export interface ReadDraft {
  name: string;
  homes: Homes;
  notes: Note[];
  /** A client's text in our notation. */
  translate(text: string, field: string): string;
}

/** One server on its way out: a rule takes what it can say from `homes`; what stays is lost. */
export interface WriteDraft {
  client: string;
  homes: Homes;
  notes: Note[];
  /** Our text in the client's notation; nothing when it holds a reference the client cannot say. */
  translate(text: string, field: string): string | undefined;
}

export function createReadDraft(name: string, syntax: VariableSyntax, context: ReadContext): ReadDraft {
  const draft: ReadDraft = { name, homes: new Map(), notes: [], translate };
  return draft;

  function translate(text: string, field: string): string {
    let hasUnknown = false;
    const parts = syntax.read(text, { ...context, field, unknown: () => (hasUnknown = true) });
    const translated = printReferences(parts);
    if (hasUnknown)
      draft.notes.push(lost(field, "a `${…}` in it means nothing here and is kept as plain text"));
    if (!sameParts(parseTemplate(translated), parts)) {
      draft.notes.push(
        lost(field, "a `$` directly before a variable cannot be written down; check this value"),
      );
    } else if (translated !== text && !hasUnknown) {
      draft.notes.push(describe(parts, translated, field));
    }
    return translated;
  }
}

export function createWriteDraft(client: string, homes: Homes, syntax: VariableSyntax): WriteDraft {
  const notes: Note[] = [];
  const translate = (text: string, field: string): string | undefined => {
    const parts = parseTemplate(text);
    const written = parts.map((part) => writePart(part, { client, syntax, field, notes }));
    if (written.includes(undefined)) return undefined;
    const whole = written.join("");
    const plain = parts.every((part) => typeof part === "string");
    const back = syntax.read(whole, { projectRoot: "/", scope: "user", field, unknown: () => {} });
    if (plain && !sameParts(back, parts)) {
      notes.push(lost(field, `${client} would take a part of this plain text for a variable`));
    }
    return whole;
  };
  return { client, homes, notes, translate };
}

export function lost(field: string, message: string): Note {
  return { kind: "lost", field, message };
}

/** Puts a value in its place, unless another spelling of the same field was there first. */
export function settle(draft: ReadDraft, home: Home, value: unknown, field: string): void {
  if (draft.homes.has(home)) draft.notes.push(lost(field, "another field of this entry says the same thing"));
  else draft.homes.set(home, value);
}

export function take(draft: WriteDraft, home: Home): unknown {
  const value = draft.homes.get(home);
  draft.homes.delete(home);
  return value;
}

function writePart(
  part: Part,
  {
    client,
    syntax,
    field,
    notes,
  }: Pick<WriteDraft, "client" | "notes"> & { syntax: VariableSyntax; field: string },
): string | undefined {
  if (typeof part === "string") return part;
  const said = syntax.write(part);
  if (said !== undefined) return said;
  const bare = syntax.write(withoutFallback(part));
  const name = "name" in part && /^[A-Za-z_]\w*$/.test(part.name) ? part.name : undefined;
  const stand = name === undefined ? undefined : syntax.write({ kind: "env", name });
  if (bare !== undefined)
    notes.push(lost(field, `${client} has no default values, so this one must be found`));
  else if (name !== undefined && stand !== undefined) notes.push(needsVariable(field, name, client));
  else notes.push(unsayable(part, client, field));
  return bare ?? stand;
}

export function needsVariable(field: string, name: string, client: string): Note {
  return {
    kind: "needs-secret",
    field,
    message: `${client} does not read our secrets: set the variable \`${name}\` where ${client} runs`,
  };
}

function unsayable(reference: Reference, client: string, field: string): Note {
  const message = `${client} cannot look up \`${withoutValues(reference)}\`: put the value in by hand`;
  return reference.kind === "secret" ? { kind: "needs-secret", field, message } : lost(field, message);
}

function describe(parts: readonly Part[], translated: string, field: string): Note {
  const references = parts.filter((part) => typeof part !== "string");
  const secrets = references.filter((reference) => reference.kind === "secret");
  if (secrets.length > 0) {
    const commands = secrets.map(({ name }) => `\`plugboard secret set ${shellWord(name)}\``).join(" and ");
    const message = `asks for a value: run ${commands}, or set the variable of that name`;
    return { kind: "needs-secret", field, message };
  }
  const printed = references.map((reference) => `\`${withoutValues(reference)}\``).join(", ");
  const plain = translated.includes("$${")
    ? "is plain text in that client, so its `${` is written as `$${` here"
    : "its variables are replaced by what they stand for";
  return { kind: "translated", field, message: printed ? `reads ${printed} in our notation` : plain };
}

/** A default or a command may hold what nobody should see. */
function withoutValues(reference: Reference): string {
  return reference.kind === "cmd" ? "${cmd:…}" : printReference(withoutFallback(reference));
}

function sameParts(a: readonly Part[], b: readonly Part[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
