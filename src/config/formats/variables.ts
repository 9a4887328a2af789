import type { ReadContext } from "./format.ts";
import {
  type Part,
  printReference,
  type Reference,
  shellPattern,
  splitText,
  variable,
} from "./references.ts";

/** How a client writes values that are looked up elsewhere. */
export interface VariableSyntax {
  read(text: string, place: VariablePlace): Part[];
  /** Nothing when the client has no way to say it. */
  write(reference: Reference): string | undefined;
}

export interface VariablePlace extends Pick<ReadContext, "projectRoot" | "scope"> {
  field: string;
  /** Called for a variable of the client that means nothing elsewhere; its text is kept as it is. */
  unknown(): void;
}

/** Every text is literal. */
export const noVariables: VariableSyntax = {
  read: (text) => (text === "" ? [] : [text]),
  write: () => undefined,
};

/** `${NAME}` and `${NAME:-default}`. */
export const shellVariables = variablesLike(() => shellPattern);

/** `${NAME}` is a secret first and a variable second, which is what our secrets are. */
export const secretVariables: VariableSyntax = {
  read: (text) => splitText(text, /\$\{([A-Za-z_]\w*)\}/g, ([, name = ""]) => ({ kind: "secret", name })),
  write: () => undefined,
};

/** `$NAME`, `${NAME}` and `%NAME%`; the last not in addresses, where `%` begins an encoded character. */
export const geminiVariables = variablesLike((field) => {
  const dollar = String.raw`${shellPattern}|\$([A-Za-z_]\w*)`;
  return /url$/i.test(field) ? dollar : String.raw`${dollar}|%([A-Za-z_]\w*)%`;
});

/** `${NAME}`, `${NAME:-default}` and `$env:NAME`. */
export const mcporterVariables = variablesLike(() => String.raw`${shellPattern}|\$env:([A-Za-z_]\w*)`);

/** `{env:NAME}` and `{file:path}`. */
export const opencodeVariables: VariableSyntax = {
  read: (text) =>
    splitText(text, /\{env:([A-Za-z_]\w*)\}|\{file:([^}]+)\}/g, ([, name, path = ""]) =>
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
  write: () => undefined,
};

/** The editors' `${env:NAME}`, `${workspaceFolder}`, `${userHome}`, and `${input:id}` where the editor asks for values. */
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

/** A project's file stays usable on other machines where we resolve paths ourselves, which is only the working folder. */
function workspaceFolder({ projectRoot, scope, field }: VariablePlace): string {
  return scope === "project" && /(^|\.)cwd$/.test(field) ? "." : projectRoot;
}

/** Spellings of a variable: the shell's first, whose default is the second group, then those that have none. */
function variablesLike(pattern: (field: string) => string): VariableSyntax {
  return {
    read: (text, { field }) =>
      splitText(text, new RegExp(pattern(field), "g"), ([, name, fallback, ...others]) =>
        variable(name ?? others.find((other) => other !== undefined) ?? "", fallback),
      ),
    write: (reference) => (reference.kind === "env" ? printReference(reference) : undefined),
  };
}
