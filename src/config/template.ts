/** A `${…}` in a configured string. */
export interface Reference {
  kind: "env" | "secret" | "file" | "cmd";
  /** The variable, secret, path or command line. */
  name: string;
  /** The text after `:-`, which may contain references itself. */
  fallback?: string;
}

export type Template = (string | Reference)[];

/**
 * `${VAR}`, `${VAR:-default}`, `${secret:NAME}`, `${file:path}` and `${cmd:…}`; `$${` stands for a literal `${`.
 * Braces nest, so a default may contain a reference. Anything that is not a reference is plain text.
 */
export function parseTemplate(text: string): Template {
  const parts: Template = [];
  let plain = "";
  let at = 0;
  while (at < text.length) {
    if (text.startsWith("$${", at)) {
      plain += "${";
      at += 3;
      continue;
    }
    const end = text.startsWith("${", at) ? closingBrace(text, at + 2) : -1;
    const reference = end === -1 ? undefined : parseReference(text.slice(at + 2, end));
    if (!reference) {
      plain += text[at++];
      continue;
    }
    if (plain) parts.push(plain);
    plain = "";
    parts.push(reference);
    at = end + 1;
  }
  if (plain) parts.push(plain);
  return parts;
}

function closingBrace(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "{") depth++;
    else if (text[at] === "}" && --depth === 0) return at;
  }
  return -1;
}

function parseReference(body: string): Reference | undefined {
  const special = /^(secret|file|cmd):([\s\S]+)$/.exec(body);
  if (special) {
    const [, kind, rest = ""] = special;
    if (kind === "cmd") return { kind: "cmd", name: rest.trim() };
    return withFallback(kind as "secret" | "file", ...splitFallback(rest));
  }
  const [name, fallback] = splitFallback(body);
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? withFallback("env", name, fallback) : undefined;
}

function withFallback(kind: Reference["kind"], name: string, fallback: string | undefined): Reference {
  return fallback === undefined ? { kind, name } : { kind, name, fallback };
}

function splitFallback(body: string): [string, string?] {
  const at = body.indexOf(":-");
  return at === -1 ? [body] : [body.slice(0, at), body.slice(at + 2)];
}

/** The reference as it is shown: with its name, never with its value or default. */
export function showReference({ kind, name }: Reference): string {
  return kind === "env" ? `\${${name}}` : `\${${kind}:${name}}`;
}

/** All references in a text, including those inside defaults. */
export function referencesIn(text: string): Reference[] {
  return parseTemplate(text).flatMap((part) =>
    typeof part === "string" ? [] : [part, ...referencesIn(part.fallback ?? "")],
  );
}

/** Escapes a text so that nothing in it is read as a reference. */
export function escapeTemplate(text: string): string {
  return text.replaceAll("${", () => "$${");
}
