import { ParseError, parseTOML } from "toml-eslint-parser";
import type { AST } from "toml-eslint-parser";
import { bareObject, nest, splice } from "./document.ts";
import type { ConfigDocument, Located, Notation, Path, Span } from "./document.ts";
import { renderInline, renderTables, tomlKey } from "./toml-text.ts";

export const toml: Notation = { parse, set, remove, stringify: (value) => renderTables([], value) };

function parse(text: string): ConfigDocument {
  try {
    const places = placesOf(text);
    return { value: toValue(places), problems: [], root: locate(places, { start: 0, end: text.length }) };
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const problem = { message: error.message.replace(/\.$/, "").toLowerCase(), offset: error.index };
    return { value: bareObject(), problems: [problem] };
  }
}

/** A table header or an assignment, with its full path. */
interface Place extends Span {
  path: Path;
  /** Absent for a table header. */
  value?: AST.TOMLContentNode;
  isTable: boolean;
  keyEnd: number;
  /** How many steps of the path the header above it has; the key has the others. */
  depth: number;
}

function placesOf(text: string): Place[] {
  return parseTOML(text, { tomlVersion: "1.0" }).body[0].body.flatMap((node) => {
    if (node.type === "TOMLKeyValue") return [assignment(node, [])];
    const header = {
      path: node.resolvedKey,
      isTable: true,
      start: node.range[0],
      end: headerEnd(text, node),
      depth: node.resolvedKey.length,
    };
    return [
      { ...header, keyEnd: header.end },
      ...node.body.map((inner) => assignment(inner, node.resolvedKey)),
    ];
  });
}

function headerEnd(text: string, table: AST.TOMLTable): number {
  const close = text.indexOf("]", table.key.range[1]);
  return table.kind === "array" ? close + 2 : close + 1;
}

function assignment(node: AST.TOMLKeyValue, base: Path): Place {
  const names = node.key.keys.map((key) => (key.type === "TOMLBare" ? key.name : key.value));
  const [start, end] = node.range;
  return {
    path: [...base, ...names],
    value: node.value,
    isTable: false,
    start,
    end,
    keyEnd: node.key.range[1],
    depth: base.length,
  };
}

function toValue(places: Place[]): Record<string, unknown> {
  const root = bareObject();
  for (const { path, value } of places) {
    let here: Record<string | number, unknown> = root;
    for (const [index, step] of path.entries()) {
      if (index === path.length - 1 && value) here[step] = nodeValue(value);
      else here[step] ??= typeof path[index + 1] === "number" ? [] : bareObject();
      here = here[step] as Record<string | number, unknown>;
    }
  }
  return root;
}

function nodeValue(node: AST.TOMLContentNode): unknown {
  if (node.type === "TOMLArray") return node.elements.map(nodeValue);
  if (node.type === "TOMLInlineTable") return toValue(node.body.map((inner) => assignment(inner, [])));
  return node.value instanceof Date ? node.value.toISOString() : node.value;
}

/** Where values and tables stand: each at the first place that mentions it. */
function locate(places: Place[], { start, end }: Span): Located {
  const root: Located = { start, end, members: new Map() };
  for (const place of places) {
    let here = root;
    for (const step of place.path) {
      const known = here.members.get(step) ?? { start: place.start, end: place.end, members: new Map() };
      here.members.set(step, known);
      here = known;
    }
    if (place.value) here.members = locateValue(place.value).members;
  }
  return root;
}

function locateValue(node: AST.TOMLContentNode): Located {
  const [start, end] = node.range;
  if (node.type === "TOMLInlineTable")
    return locate(
      node.body.map((inner) => assignment(inner, [])),
      { start, end },
    );
  const elements = node.type === "TOMLArray" ? node.elements : [];
  return { start, end, members: new Map(elements.map((element, index) => [index, locateValue(element)])) };
}

function startsWith(path: Path, prefix: Path): boolean {
  return prefix.every((step, index) => path[index] === step);
}

function set(text: string, path: Path, value: unknown): string {
  const places = placesOf(text);
  const exact = places.find(
    (place) => place.value && place.path.length === path.length && startsWith(place.path, path),
  );
  if (exact?.value) {
    const [start, end] = exact.value.range;
    return splice(text, start, end - start, renderInline(value));
  }
  const inline = places.find((place) => place.value && startsWith(path, place.path));
  if (inline?.value?.type === "TOMLArray" && path.length === inline.path.length + 1)
    return addItem(text, inline.value, value);
  if (inline?.value?.type === "TOMLInlineTable") {
    return setInline(text, inline.value, path.slice(inline.path.length), value);
  }
  if (places.some((place) => startsWith(place.path, path))) {
    const start = places.find((place) => startsWith(place.path, path))?.start ?? text.length;
    const before = places.filter((place) => place.start < start).length;
    const without = remove(text, path);
    const next = placesOf(without)[before]?.start ?? without.length;
    return insertTables(without, next, path, value);
  }
  const parent = path.slice(0, -1);
  const isTable = typeof value === "object" && value !== null && !Array.isArray(value);
  const header = places.find((place) => place.isTable && samePath(place.path, parent));
  if (!isTable && header) {
    return splice(text, header.end, 0, `\n${tomlKey(String(path.at(-1)))} = ${renderInline(value)}`);
  }
  const dotted = isTable ? undefined : places.findLast((place) => isDottedIn(place, parent));
  return dotted
    ? insertBelow(text, dotted, path, value)
    : insertTables(text, placeForTable(text, places, path), path, value);
}

/** A table of an item of a list must follow it before the next item; any other can be the last one. */
function placeForTable(text: string, places: Place[], path: Path): number {
  const item = path.slice(0, path.findLastIndex((step) => typeof step === "number") + 1);
  if (item.length === 0 || item.length === path.length) return text.length;
  const end = places.findLast((place) => startsWith(place.path, item))?.end ?? text.length;
  const newline = text.indexOf("\n", end);
  return newline === -1 ? text.length : newline + 1;
}

function addItem(text: string, list: AST.TOMLArray, value: unknown): string {
  const last = list.elements.at(-1)?.range[1];
  const item = renderInline(value);
  return last === undefined ? splice(text, list.range[0] + 1, 0, item) : splice(text, last, 0, `, ${item}`);
}

/** True for `files.command = "x"`, which makes a table `files` that can have no header. */
function isDottedIn({ value, path, depth }: Place, table: Path): boolean {
  return value !== undefined && depth < table.length && path.length > table.length && startsWith(path, table);
}

function insertBelow(text: string, { end, depth }: Place, path: Path, value: unknown): string {
  const newline = text.indexOf("\n", end);
  const key = path.slice(depth).map((step) => tomlKey(String(step)));
  const line = `${key.join(".")} = ${renderInline(value)}`;
  return splice(text, newline === -1 ? text.length : newline, 0, `\n${line}`);
}

function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && startsWith(a, b);
}

function setInline(text: string, table: AST.TOMLInlineTable, path: Path, value: unknown): string {
  const member = table.body
    .map((inner) => assignment(inner, []))
    .find((inner) => startsWith(path, inner.path));
  if (member?.value?.type === "TOMLInlineTable" && path.length > member.path.length) {
    return setInline(text, member.value, path.slice(member.path.length), value);
  }
  if (member?.value) {
    const [start, end] = member.value.range;
    return splice(text, start, end - start, renderInline(nest(path.slice(member.path.length), value)));
  }
  const last = table.body.at(-1)?.range[1];
  const pair = `${tomlKey(String(path[0]))} = ${renderInline(nest(path.slice(1), value))}`;
  return last === undefined
    ? splice(text, table.range[0] + 1, 0, ` ${pair} `)
    : splice(text, last, 0, `, ${pair}`);
}

function insertTables(text: string, offset: number, path: Path, value: unknown): string {
  const before = text.slice(0, offset).replace(/\s+$/, "");
  const after = text.slice(offset);
  const block = renderTables(path, value).trimEnd();
  return `${before}${before === "" ? "" : "\n\n"}${block}\n${after.trim() === "" ? "" : `\n${after}`}`;
}

function remove(text: string, path: Path): string {
  const places = placesOf(text);
  let result = text;
  for (const place of places.toReversed()) {
    if (startsWith(place.path, path)) result = cutLines(result, place);
    else if (place.value?.type === "TOMLInlineTable" && startsWith(path, place.path)) {
      result = removeInline(result, place.value, path.slice(place.path.length));
    } else if (place.value?.type === "TOMLArray" && startsWith(path, place.path)) {
      result = removeItem(result, place.value, path.slice(place.path.length));
    }
  }
  return result;
}

/** Removes the line of a header or an assignment, and one blank line if two would end up next to each other. */
function cutLines(text: string, { start, end }: Span): string {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const newline = text.indexOf("\n", end);
  let lineEnd = newline === -1 ? text.length : newline + 1;
  const before = text.slice(0, lineStart);
  if (before === "" || before.endsWith("\n\n")) {
    const blank = /^[ \t]*\r?\n/.exec(text.slice(lineEnd));
    if (blank) lineEnd += blank[0].length;
  }
  return before + text.slice(lineEnd);
}

function removeItem(text: string, { elements }: AST.TOMLArray, [index, ...inside]: Path): string {
  const item = elements[Number(index)];
  if (!item || inside.length > 0) return text;
  const next = elements[Number(index) + 1];
  const start = next ? item.range[0] : (elements[Number(index) - 1]?.range[1] ?? item.range[0]);
  return splice(text, start, (next?.range[0] ?? item.range[1]) - start, "");
}

function removeInline(text: string, table: AST.TOMLInlineTable, path: Path): string {
  const index = table.body.findIndex((inner) => startsWith(path, assignment(inner, []).path));
  const member = table.body[index];
  if (!member) return text;
  const { path: names, value } = assignment(member, []);
  if (names.length < path.length && value?.type === "TOMLInlineTable") {
    return removeInline(text, value, path.slice(names.length));
  }
  const next = table.body[index + 1];
  const previous = table.body[index - 1];
  const start = next ? member.range[0] : (previous?.range[1] ?? member.range[0]);
  const end = next ? next.range[0] : member.range[1];
  return splice(text, start, end - start, "");
}
