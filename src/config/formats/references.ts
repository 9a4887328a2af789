/** A text of ours, taken apart: plain strings, and references that are looked up when a server starts. */
export type Part = string | Reference;

export type Reference =
  | { kind: "variable"; name: string; fallback?: string }
  | { kind: "secret"; name: string; fallback?: string }
  | { kind: "file"; path: string; fallback?: string }
  | { kind: "command"; command: string };

/** What stands behind `:-`, which may itself hold references, so braces come in pairs. */
const fallbackPattern = String.raw`(?::-((?:[^{}]|\{[^{}]*\})*))?`;

/** `${NAME}` and `${NAME:-default}`, as shells, several clients and we write them. */
export const shellPattern = String.raw`\$\{([A-Za-z_]\w*)${fallbackPattern}\}`;

const ours = new RegExp(
  [
    String.raw`\$\$\{`,
    shellPattern,
    String.raw`\$\{(secret|file):([^{}]+?)${fallbackPattern}\}`,
    String.raw`\$\{cmd:([^{}]+)\}`,
  ].join("|"),
  "g",
);

/** `$${` is our escape for a literal `${`. */
export function parseReferences(text: string): Part[] {
  return splitText(text, ours, ([whole, name, fallback, kind, target = "", targetFallback, command]) => {
    if (whole === "$${") return "${";
    if (command !== undefined) return { kind: "command", command };
    if (kind === "secret") return withFallback({ kind, name: target }, targetFallback);
    if (kind === "file") return withFallback({ kind, path: target }, targetFallback);
    return variable(name ?? "", fallback);
  });
}

export function printReferences(parts: readonly Part[]): string {
  // Plain neighbours are joined first: a `$` and a `{` that meet must be escaped too.
  return joinPlain(parts)
    .map((part) => (typeof part === "string" ? part.replaceAll("${", () => "$${") : printReference(part)))
    .join("");
}

export function printReference(reference: Reference): string {
  if (reference.kind === "command") return `\${cmd:${reference.command}}`;
  const name = reference.kind === "file" ? reference.path : reference.name;
  const prefix = reference.kind === "variable" ? "" : `${reference.kind}:`;
  const fallback = reference.fallback === undefined ? "" : `:-${reference.fallback}`;
  return `\${${prefix}${name}${fallback}}`;
}

export function variable(name: string, fallback?: string): Reference {
  return withFallback({ kind: "variable", name }, fallback);
}

/** A default may hold what nobody should see, and most clients have none. */
export function withoutFallback(reference: Reference): Reference {
  if (reference.kind === "command") return reference;
  const { fallback: _fallback, ...rest } = reference;
  return rest;
}

function withFallback(
  reference: Exclude<Reference, { kind: "command" }>,
  fallback: string | undefined,
): Reference {
  return fallback === undefined ? reference : { ...reference, fallback };
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
