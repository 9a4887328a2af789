import type { ReadContext } from "./format.ts";
import { type Part, type Reference, splitText, variable } from "./references.ts";

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
export const shellVariables: VariableSyntax = {
  read: (text) =>
    splitText(text, /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, ([, name = "", fallback]) =>
      variable(name, fallback),
    ),
  write: writeShell,
};

/** `${NAME}` is a secret first and a variable second, which is what our secrets are. */
export const secretVariables: VariableSyntax = {
  read: (text) => splitText(text, /\$\{([A-Za-z_]\w*)\}/g, ([, name = ""]) => ({ kind: "secret", name })),
  write: () => undefined,
};

/** `$NAME`, `${NAME}` and `%NAME%`; the last not in addresses, where `%` begins an encoded character. */
export const geminiVariables: VariableSyntax = {
  read: (text, { field }) => {
    const dollar = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}|\$([A-Za-z_]\w*)/g;
    const both = new RegExp(`${dollar.source}|%([A-Za-z_]\\w*)%`, "g");
    return splitText(text, /url$/i.test(field) ? dollar : both, ([, braced, fallback, bare, percent]) =>
      variable(braced ?? bare ?? percent ?? "", fallback),
    );
  },
  write: writeShell,
};

/** `{env:NAME}` and `{file:path}`. */
export const opencodeVariables: VariableSyntax = {
  read: (text) =>
    splitText(text, /\{env:([A-Za-z_]\w*)\}|\{file:([^}]+)\}/g, ([, name, path = ""]) =>
      name === undefined ? { kind: "file", path } : variable(name),
    ),
  write: (reference) => {
    if (reference.kind === "variable" && reference.fallback === undefined) return `{env:${reference.name}}`;
    return reference.kind === "file" ? `{file:${reference.path}}` : undefined;
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

/** `${NAME}`, `${NAME:-default}` and `$env:NAME`. */
export const mcporterVariables: VariableSyntax = {
  read: (text) =>
    splitText(
      text,
      /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}|\$env:([A-Za-z_]\w*)/g,
      ([, braced, fallback, bare]) => variable(braced ?? bare ?? "", fallback),
    ),
  write: writeShell,
};

/** The editors' `${env:NAME}`, `${workspaceFolder}`, `${userHome}`, and `${input:id}` where the editor asks for values. */
export function editorVariables(also: { inputs?: boolean; files?: boolean } = {}): VariableSyntax {
  return {
    read: (text, place) =>
      splitText(text, /\$\{([^{}]+)\}/g, ([whole, inner = ""]) => {
        const [, kind, target = ""] = /^(env|input|file):(.+)$/.exec(inner) ?? [];
        if (kind === "env" && /^[A-Za-z_]\w*$/.test(target)) return variable(target);
        if (kind === "input" && also.inputs) return { kind: "secret", name: target };
        if (kind === "file" && also.files) return { kind: "file", path: target };
        if (inner === "userHome") return variable("HOME");
        if (inner === "workspaceFolder") return workspaceFolder(place);
        if (inner === "pathSeparator" || inner === "/") return "/";
        place.unknown();
        return whole;
      }),
    write: (reference) => {
      if (reference.kind === "variable" && reference.fallback === undefined)
        return `\${env:${reference.name}}`;
      if (reference.kind === "secret" && also.inputs) return `\${input:${reference.name}}`;
      return reference.kind === "file" && also.files ? `\${file:${reference.path}}` : undefined;
    },
  };
}

/** A project's file stays usable on other machines where we resolve paths ourselves, which is only the working folder. */
function workspaceFolder({ projectRoot, scope, field }: VariablePlace): string {
  return scope === "project" && /(^|\.)cwd$/.test(field) ? "." : projectRoot;
}

function writeShell(reference: Reference): string | undefined {
  if (reference.kind !== "variable") return undefined;
  return reference.fallback === undefined
    ? `\${${reference.name}}`
    : `\${${reference.name}:-${reference.fallback}}`;
}
