/** A text of ours, taken apart: plain strings, and references that are looked up when a server starts. */
export type Part = string | Reference;

export type Reference =
  | { kind: "variable"; name: string; fallback?: string }
  | { kind: "secret"; name: string }
  | { kind: "file"; path: string }
  | { kind: "command"; command: string };

const ours = /\$\$\{|\$\{(?:(secret|file|cmd):([^}]+)|([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?)\}/g;

/** `$${` is our escape for a literal `${`. */
export function parseReferences(text: string): Part[] {
  return splitText(text, ours, ([whole, kind, target = "", name = "", fallback]) => {
    if (whole === "$${") return "${";
    if (kind === "secret") return { kind, name: target };
    if (kind === "file") return { kind, path: target };
    if (kind === "cmd") return { kind: "command", command: target };
    return variable(name, fallback);
  });
}

export function printReferences(parts: readonly Part[]): string {
  // Plain neighbours are joined first: a `$` and a `{` that meet must be escaped too.
  return joinPlain(parts)
    .map((part) => (typeof part === "string" ? part.replaceAll("${", () => "$${") : printReference(part)))
    .join("");
}

export function printReference(reference: Reference): string {
  if (reference.kind === "secret") return `\${secret:${reference.name}}`;
  if (reference.kind === "file") return `\${file:${reference.path}}`;
  if (reference.kind === "command") return `\${cmd:${reference.command}}`;
  return reference.fallback === undefined
    ? `\${${reference.name}}`
    : `\${${reference.name}:-${reference.fallback}}`;
}

export function variable(name: string, fallback?: string): Reference {
  return fallback === undefined ? { kind: "variable", name } : { kind: "variable", name, fallback };
}

/** The text between matches as it is, and each match as `replace` reads it. */
export function splitText(text: string, pattern: RegExp, replace: (match: RegExpMatchArray) => Part): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > end) parts.push(text.slice(end, match.index));
    parts.push(replace(match));
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push(text.slice(end));
  return joinPlain(parts);
}

function joinPlain(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === "string" && typeof last === "string") joined[joined.length - 1] = last + part;
    else if (part !== "") joined.push(part);
  }
  return joined;
}
