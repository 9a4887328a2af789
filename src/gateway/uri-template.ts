/**
 * True if a URI can come from an RFC 6570 template. Each expression stands for any text without a line break; the
 * literal parts have to follow each other. Takes linear time, whatever the template says.
 */
export function matchesTemplate(template: string, uri: string): boolean {
  if (template.length > 8_192 || uri.length > 65_536) return false;
  const literals = template.split(/\{[^{}]*\}/);
  const first = literals[0] ?? "";
  const last = literals.at(-1) ?? "";
  if (literals.length === 1) return template === uri;
  if (first === "" || !uri.startsWith(first) || !uri.endsWith(last)) return false;
  let at = first.length;
  const end = uri.length - last.length;
  for (const literal of literals.slice(1, -1)) {
    const found = uri.indexOf(literal, at);
    if (found === -1) return false;
    at = found + literal.length;
  }
  return at <= end;
}
