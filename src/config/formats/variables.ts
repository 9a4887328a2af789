import type { ReadContext } from "./format.ts";
import { printReference } from "../template.ts";
import {
  type Part,
  printReferences,
  type Reference,
  shellPattern,
  splitText,
  variable,
} from "./references.ts";

/** How a client writes references to variables, secrets and files. */
export interface VariableSyntax {
  read(text: string, place: VariablePlace): Part[];
  /** Undefined if the client has no equivalent. */
  write(reference: Reference): string | undefined;
}

export interface VariablePlace extends Pick<ReadContext, "projectRoot" | "scope"> {
  field: string;
  /** Called for a variable that only this client knows; its text is kept unchanged. */
  unknown(): void;
}

/** For clients in which every string is literal. */
export const noVariables: VariableSyntax = {
  read: (text) => (text === "" ? [] : [text]),
  write: () => undefined,
};

/** `${NAME}` and `${NAME:-default}`. */
export const shellVariables = variablesLike(() => shellPattern);

const dollarVariables = variablesLike(() => String.raw`${shellPattern}|\$([A-Za-z_]\w*)`);

/** The second group, which stands for the default, never matches. */
const withoutDefaults = variablesLike(() => String.raw`\$\{([A-Za-z_]\w*)(\b\B)?\}|\$env:([A-Za-z_]\w*)`);

/** `${NAME}` is looked up as a secret first and a variable second, as our secrets are. */
export const secretVariables: VariableSyntax = {
  read: (text) => splitText(text, /\$\{([A-Za-z_]\w*)\}/g, ([, name = ""]) => ({ kind: "secret", name })),
  write: () => undefined,
};

/** `$NAME`, `${NAME}` and `%NAME%`; the last one not in URLs, where `%` starts an encoded character. */
export const geminiVariables = variablesLike((field) => {
  const dollar = String.raw`${shellPattern}|\$([A-Za-z_]\w*)`;
  return /url$/i.test(field) ? dollar : String.raw`${dollar}|%([A-Za-z_]\w*)%`;
});

/** `${NAME}`, `${NAME:-default}` and `$env:NAME`. */
export const mcporterVariables = variablesLike(() => String.raw`${shellPattern}|\$env:([A-Za-z_]\w*)`);

/**
 * Crush expands values as a shell does. Of that, only `$NAME`, `${NAME}` and `${NAME:-default}` have an equivalent;
 * a value that runs a command, or has quotes or backslashes, stays plain text.
 */
export const crushVariables: VariableSyntax = {
  read: (text, place) => {
    if (!/\$\(|[`\\'"]/.test(text)) return dollarVariables.read(text, place);
    if (text.includes("$") || text.includes("`")) place.unknown();
    return text === "" ? [] : [text];
  },
  write: (reference) => dollarVariables.write(reference),
};

/** `${NAME}` and `$env:NAME`, in some fields of pi-mcp-adapter; there a value that starts with `!` is a command. */
export const piVariables: VariableSyntax = {
  read: (text, place) => {
    const isSecret = /^(env|headers|bearerToken|oauth)(\.|$)/.test(place.field);
    if (!isSecret && !/^(url|cwd)$/.test(place.field)) return text === "" ? [] : [text];
    if (isSecret && text.startsWith("!") && !text.startsWith("!!")) {
      place.unknown();
      return [text];
    }
    return withoutDefaults.read(isSecret ? text.replace(/^!!/, "!") : text, place);
  },
  write: (reference) => (reference.fallback === undefined ? withoutDefaults.write(reference) : undefined),
};

/** `{env:NAME}` and `{file:path}`. */
export const opencodeVariables: VariableSyntax = {
  read: (text) =>
    splitText(text, /\{env:([A-Za-z_]\w*)\}|\{file:([^{}]+)\}/g, ([, name, path = ""]) =>
      name === undefined ? { kind: "file", name: path } : variable(name),
    ),
  write: (reference) => {
    if (reference.kind === "env" && reference.fallback === undefined) return `{env:${reference.name}}`;
    return reference.kind === "file" && !reference.fallback ? `{file:${reference.name}}` : undefined;
  },
};

/** `${{ secrets.NAME }}` and `${{ inputs.NAME }}`. */
export const continueVariables: VariableSyntax = {
  read: (text) =>
    splitText(text, /\$\{\{\s*(?:secrets|inputs)\.([\w.-]+)\s*\}\}/g, ([, name = ""]) => ({
      kind: "secret",
      name,
    })),
  write: ({ kind, name, fallback }) =>
    kind === "secret" && fallback === undefined && /^[\w.-]+$/.test(name)
      ? `\${{ secrets.${name} }}`
      : undefined,
};

/** `${env:NAME}`, `${workspaceFolder}`, `${userHome}` as in VS Code, and `${input:id}` in editors that prompt for values. */
export function editorVariables(also: { inputs?: boolean; files?: boolean } = {}): VariableSyntax {
  return {
    read: (text, place) =>
      splitText(text, /\$\{([^{}]+)\}/g, ([whole, inner = ""]) => {
        const [, kind, target = ""] = /^(env|input|file):(.+)$/.exec(inner) ?? [];
        if (kind === "env" && /^[A-Za-z_]\w*$/.test(target)) return variable(target);
        if (kind === "input" && also.inputs) return { kind: "secret", name: target };
        if (kind === "file" && also.files) return { kind: "file", name: target };
        if (inner === "userHome") return variable("HOME");
        if (inner === "workspaceFolder") return workspaceFolder(place);
        if (inner === "pathSeparator" || inner === "/") return "/";
        place.unknown();
        return whole;
      }),
    write: (reference) => {
      if (reference.kind === "cmd" || reference.fallback !== undefined) return undefined;
      if (reference.kind === "env") return `\${env:${reference.name}}`;
      if (reference.kind === "secret" && also.inputs) return `\${input:${reference.name}}`;
      return reference.kind === "file" && also.files ? `\${file:${reference.name}}` : undefined;
    },
  };
}

/** We resolve paths only in `cwd`, so only there a project's file can use `.` and stay usable on other machines. */
function workspaceFolder({ projectRoot, scope, field }: VariablePlace): string {
  return scope === "project" && /(^|\.)cwd$/.test(field) ? "." : projectRoot;
}

/**
 * The pattern's first group is the shell spelling's name and the second its default; the others are names. A default
 * is read as the client reads it, so that what is plain text there stays plain text here.
 */
function variablesLike(pattern: (field: string) => string): VariableSyntax {
  const read = (text: string, { field }: Pick<VariablePlace, "field">): Part[] =>
    splitText(text, new RegExp(pattern(field), "g"), ([whole, name, fallback, ...others]) => {
      const known = name ?? others.find((other) => other !== undefined) ?? "";
      if (fallback === undefined) return variable(known);
      const ours = printReferences(read(fallback, { field }));
      return ours === undefined ? whole : variable(known, ours);
    });
  return {
    read,
    write: (reference) => (reference.kind === "env" ? printReference(reference) : undefined),
  };
}
