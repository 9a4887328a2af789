import type { Note, ReadContext } from "./format.ts";
import { shellWord } from "../../lib/argv.ts";
import type { ConfigField, FlatConfig } from "./flat-config.ts";
import { escapeTemplate, parseTemplate, printReference, referencesIn } from "../template.ts";
import { type Part, printReferences, type Reference, sameParts, withoutFallback } from "./references.ts";
import type { VariableSyntax } from "./variables.ts";

/** One server that is being imported: the fields read so far, and notes about them. */
export interface ReadDraft {
  name: string;
  config: FlatConfig;
  notes: Note[];
  /** Translates the client's variables to our references. */
  translate(text: string, field: string): string;
}

/** One server that is being exported: each rule takes the fields it can write from `config`; the rest is lost. */
export interface WriteDraft {
  name: string;
  client: string;
  config: FlatConfig;
  notes: Note[];
  /**
   * Translates our references to the client's variables; undefined if the client has no equivalent for one, and null
   * if the client would make something else of the plain text, so that it must not be written.
   */
  translate(text: string, field: string): string | undefined | null;
}

export function createReadDraft(name: string, syntax: VariableSyntax, context: ReadContext): ReadDraft {
  const draft: ReadDraft = { name, config: new Map(), notes: [], translate };
  return draft;

  function translate(text: string, field: string): string {
    let hasUnknown = false;
    const parts = syntax.read(text, { ...context, field, unknown: () => (hasUnknown = true) });
    const translated = printReferences(parts);
    if (hasUnknown)
      draft.notes.push(
        lost(field, "contains a `${…}` that Plugboard does not know; it is kept as plain text"),
      );
    if (translated === undefined) {
      draft.notes.push(
        lost(field, "has a variable that cannot be written in our notation; the value is kept as plain text"),
      );
    } else if (translated !== text && !hasUnknown) {
      draft.notes.push(describe(parts, translated, field));
    }
    return translated ?? escapeTemplate(text);
  }
}

export function createWriteDraft(
  { name, client }: Pick<WriteDraft, "name" | "client">,
  config: FlatConfig,
  syntax: VariableSyntax,
): WriteDraft {
  const notes: Note[] = [];
  const translate = (text: string, field: string): string | undefined | null => {
    const parts = parseTemplate(text);
    const written = parts.map((part) => writePart(part, { client, syntax, field, notes }));
    if (written.includes(undefined)) return undefined;
    const whole = written.join("");
    if (parts.some((part) => typeof part === "string" && !isPlainThere(part, field, syntax))) {
      const message = `${client} would read part of this plain text as a variable or a command`;
      // A command line is run anyway, and often has a shell's variables.
      const isRun = /^(command|cmd|args)\b/.test(field);
      notes.push(lost(field, isRun ? message : `${message}, so it is left out`));
      return isRun ? whole : null;
    }
    const back = syntax.read(whole, { projectRoot: "/", scope: "user", field, unknown: () => {} });
    if (countReferences(back) < countReferences(parts)) {
      notes.push(lost(field, `${client} does not look up variables in this field`));
    }
    return whole;
  };
  return { name, client, config, notes, translate };
}

function isPlainThere(text: string, field: string, syntax: VariableSyntax): boolean {
  let isKnown = true;
  const unknown = () => (isKnown = false);
  const parts = syntax.read(text, { projectRoot: "/", scope: "user", field, unknown });
  return isKnown && sameParts(parts, [text]);
}

function countReferences(parts: readonly Part[]): number {
  return parts.filter((part) => typeof part !== "string").length;
}

/** The note for a field that has no equivalent in Plugboard. */
export const noEquivalent = "Plugboard has no equivalent";

export function lost(field: string, message: string): Note {
  return { kind: "lost", field, message };
}

/** Sets a field, unless another spelling of it has already set it. */
export function setField(draft: ReadDraft, target: ConfigField, value: unknown, field: string): void {
  if (draft.config.has(target))
    draft.notes.push(lost(field, "another field of this entry already sets this"));
  else draft.config.set(target, value);
}

export function takeField(draft: WriteDraft, target: ConfigField): unknown {
  const value = draft.config.get(target);
  draft.config.delete(target);
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
  const written = syntax.write(part);
  if (written !== undefined && !hasOurDefault(part)) return written;
  const bare = syntax.write(withoutFallback(part));
  const name = "name" in part && /^[A-Za-z_]\w*$/.test(part.name) ? part.name : undefined;
  const substitute = name === undefined ? undefined : syntax.write({ kind: "env", name });
  if (written !== undefined)
    notes.push(lost(field, `${client} cannot look up this default value, so the variable must be set`));
  else if (bare !== undefined)
    notes.push(lost(field, `${client} does not support default values, so this one must be set`));
  else if (name !== undefined && substitute !== undefined) notes.push(needsVariable(field, name, client));
  else notes.push(unsupportedReference(part, client, field));
  return bare ?? substitute;
}

/** True for a default that refers to something that only Plugboard can look up, such as a secret. */
function hasOurDefault({ fallback = "" }: Reference): boolean {
  return referencesIn(fallback).some(({ kind }) => kind !== "env");
}

export function needsVariable(field: string, name: string, client: string): Note {
  return {
    kind: "needs-secret",
    field,
    message: `${client} does not read our secrets: set the variable \`${name}\` where ${client} runs`,
  };
}

function unsupportedReference(reference: Reference, client: string, field: string): Note {
  const message = `${client} cannot look up \`${withoutValues(reference)}\`: enter the value by hand`;
  return reference.kind === "secret" ? { kind: "needs-secret", field, message } : lost(field, message);
}

function describe(parts: readonly Part[], translated: string, field: string): Note {
  const references = parts.filter((part) => typeof part !== "string");
  const secrets = references.filter((reference) => reference.kind === "secret");
  if (secrets.length > 0) {
    const commands = secrets.map(({ name }) => `\`plugboard secret set ${shellWord(name)}\``).join(" and ");
    const message = `needs a value: run ${commands}, or set the variable of that name`;
    return { kind: "needs-secret", field, message };
  }
  const printed = references.map((reference) => `\`${withoutValues(reference)}\``).join(", ");
  const plain = translated.includes("$${")
    ? "is plain text in that client, so its `${` is written as `$${` here"
    : "its variables are replaced by their values";
  return { kind: "translated", field, message: printed ? `is written as ${printed} here` : plain };
}

/** A default or a command may contain a secret, so it is left out. */
function withoutValues(reference: Reference): string {
  return reference.kind === "cmd" ? "${cmd:…}" : printReference(withoutFallback(reference));
}
