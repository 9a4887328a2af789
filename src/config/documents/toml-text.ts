import type { Path } from "./document.ts";

/** Writes `[path]`, or `[[path]]` for an item of a list, with its plain values, then one table for each nested object. */
export function renderTables(path: Path, value: unknown): string {
  if (!isTable(value)) return `${tomlKey(String(path.at(-1) ?? ""))} = ${renderInline(value)}\n`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  const plain = members.filter(([, member]) => !isTable(member));
  const tables = members.filter(([, member]) => isTable(member));
  const lines = plain.map(([key, member]) => `${tomlKey(key)} = ${renderInline(member)}\n`).join("");
  const isItem = typeof path.at(-1) === "number";
  const needsHeader = path.length > 0 && (isItem || lines !== "" || tables.length === 0);
  const names = path.filter((step) => typeof step === "string");
  const [open, close] = isItem ? ["[[", "]]"] : ["[", "]"];
  const header = needsHeader ? `${open}${names.map(tomlKey).join(".")}${close}\n` : "";
  const nested = tables.map(([key, member]) => renderTables([...path, key], member));
  return [header + lines, ...nested].filter(Boolean).join("\n");
}

export function renderInline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(renderInline).join(", ")}]`;
  if (isTable(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
    if (members.length === 0) return "{}";
    return `{ ${members.map(([key, member]) => `${tomlKey(key)} = ${renderInline(member)}`).join(", ")} }`;
  }
  return typeof value === "string" ? quoted(value) : String(value);
}

export function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : quoted(key);
}

/** JSON escapes are valid in a TOML basic string, but TOML also requires DEL to be escaped. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007F");
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
