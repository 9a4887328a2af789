/** A `${…}` in a configured string. */
export interface Reference {
  kind: "env" | "secret" | "file" | "cmd";
  /** The variable, secret, path or command line. */
  name: string;
  /** The text after `:-`, which may contain references itself. */
  fallback?: string;
}

export type Template = (string | Reference)[];

/** How deep references may stand in the defaults of others. Real files nest one or two. */
export const maxNesting = 16;

/**
 * `${VAR}`, `${VAR:-default}`, `${secret:NAME}`, `${file:path}` and `${cmd:…}`; `$${` stands for a literal `${`.
 * Braces nest, so a default may contain a reference. Anything that is not a reference is plain text, and so is one that
 * is nested too deeply. Takes time in proportion to the text, whatever it says.
 */
export function parseTemplate(text: string): Template {
  const parts: Template = [];
  const ends = referenceEnds(text);
  let plain = "";
  let at = 0;
  for (let dollar = text.indexOf("${"); dollar !== -1; dollar = text.indexOf("${", at)) {
    const isEscaped = dollar > at && text[dollar - 1] === "$";
    plain += text.slice(at, isEscaped ? dollar - 1 : dollar);
    const found = isEscaped ? undefined : ends.get(dollar);
    const isTooDeep = found !== undefined && found.nesting > maxNesting;
    const reference = found && !isTooDeep ? parseReference(text, dollar + 2, found.end) : undefined;
    at = found && (reference || isTooDeep) ? found.end + 1 : dollar + 2;
    if (!reference) plain += text.slice(dollar, at);
    else {
      if (plain) parts.push(plain);
      plain = "";
      parts.push(reference);
    }
  }
  plain += text.slice(at);
  if (plain) parts.push(plain);
  return parts;
}

/** True for a text whose references stand too deep in the defaults of others to be read. */
export function isNestedTooDeeply(text: string): boolean {
  return referenceEnds(text)
    .values()
    .some(({ nesting }) => nesting > maxNesting);
}

/** True for a text with a `${` that no brace closes, which therefore is not read as a reference. */
export function hasOpenReference(text: string): boolean {
  const ends = referenceEnds(text);
  for (let dollar = text.indexOf("${"); dollar !== -1; dollar = text.indexOf("${", dollar + 2))
    if (!ends.has(dollar) && text[dollar - 1] !== "$") return true;
  return false;
}

interface ReferenceEnd {
  /** The offset of the closing brace. */
  end: number;
  /** How many references stand in each other here, this one included. */
  nesting: number;
}

/** Finds the closing brace of every `${` in one pass, by the offset of its `$`. */
function referenceEnds(text: string): Map<number, ReferenceEnd> {
  const ends = new Map<number, ReferenceEnd>();
  if (!text.includes("${")) return ends;
  const open: { at: number; inside: number }[] = [];
  const brace = /[{}]/g;
  for (let found = brace.exec(text); found; found = brace.exec(text)) {
    const at = found.index;
    if (found[0] === "{") {
      open.push({ at, inside: 0 });
      continue;
    }
    const closed = open.pop();
    if (!closed) continue;
    const isReference = text[closed.at - 1] === "$";
    const nesting = closed.inside + (isReference ? 1 : 0);
    if (isReference) ends.set(closed.at - 1, { end: at, nesting });
    const outer = open.at(-1);
    if (outer) outer.inside = Math.max(outer.inside, nesting);
  }
  return ends;
}

/** Decides by the first characters, so that a long text that is no reference costs nothing. */
function parseReference(text: string, start: number, end: number): Reference | undefined {
  const special = /(secret|file|cmd):/y;
  special.lastIndex = start;
  const kind = special.exec(text)?.[1];
  if (kind !== undefined && special.lastIndex < end) {
    const rest = text.slice(special.lastIndex, end);
    if (kind === "cmd") return { kind: "cmd", name: rest.trim() };
    return withFallback(kind as "secret" | "file", ...splitFallback(rest));
  }
  const variable = /[A-Za-z_][A-Za-z0-9_]*/y;
  variable.lastIndex = start;
  const name = variable.exec(text)?.[0];
  if (name === undefined) return undefined;
  const after = start + name.length;
  if (after === end) return { kind: "env", name };
  return text.startsWith(":-", after) && after + 2 <= end
    ? { kind: "env", name, fallback: text.slice(after + 2, end) }
    : undefined;
}

function withFallback(kind: Reference["kind"], name: string, fallback: string | undefined): Reference {
  return fallback === undefined ? { kind, name } : { kind, name, fallback };
}

function splitFallback(body: string): [string, string?] {
  const at = body.indexOf(":-");
  return at === -1 ? [body] : [body.slice(0, at), body.slice(at + 2)];
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

export function printReference({ kind, name, fallback }: Reference): string {
  const prefix = kind === "env" ? "" : `${kind}:`;
  return `\${${prefix}${name}${fallback === undefined ? "" : `:-${fallback}`}}`;
}
