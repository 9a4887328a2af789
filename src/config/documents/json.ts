import { createScanner, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Node, ParseError } from "jsonc-parser";
import { bareObject, duplicateKey, nest, splice } from "./document.ts";
import type { ConfigDocument, Located, Notation, Path, SyntaxProblem } from "./document.ts";

/** JSON with comments and trailing commas; plain JSON is a subset. */
export const json: Notation = { parse, set, remove, stringify: (value) => `${render(value, "", "  ")}\n` };

function parse(text: string): ConfigDocument {
  const tree = treeOf(text);
  const problems: SyntaxProblem[] = tree.errors.map((error) => ({
    message: wording[printParseErrorCode(error.error)] ?? "this is not valid JSON",
    offset: error.offset,
  }));
  if (!tree.root) return { value: bareObject(), problems };
  return { ...readNode(tree.root, [], problems), problems };
}

const wording: Record<string, string> = {
  InvalidSymbol: 'names and strings need "quotes"',
  CommaExpected: "a comma is missing before this",
  CloseBraceExpected: "a closing } is missing",
  CloseBracketExpected: "a closing ] is missing",
  ColonExpected: "a colon is missing before this",
  PropertyNameExpected: 'expected a name in "quotes" here',
  ValueExpected: "expected a value here",
  EndOfFileExpected: "unexpected text after the end of the document",
  UnexpectedEndOfString: "this string has no closing quote",
  UnexpectedEndOfComment: "this comment is never closed",
  InvalidEscapeCharacter: "this escape is not valid in JSON",
  InvalidUnicode: "this \\u escape is not valid",
  InvalidCharacter: "control characters must be escaped in a string",
};

function treeOf(text: string): { root: Node | undefined; errors: ParseError[] } {
  const errors: ParseError[] = [];
  const root = text.trim() === "" ? undefined : parseTree(text, errors, { allowTrailingComma: true });
  return { root, errors };
}

/** The value of a node, and where it and its members stand. `named` is the whole member, where it is one. */
function readNode(
  node: Node,
  path: Path,
  problems: SyntaxProblem[],
  named = node,
): { value: unknown; root: Located } {
  const root: Located = { start: named.offset, end: named.offset + named.length, members: new Map() };
  if (node.type === "array") {
    const value = (node.children ?? []).map((item, index) => {
      const read = readNode(item, [...path, index], problems);
      root.members.set(index, read.root);
      return read.value;
    });
    return { value, root };
  }
  if (node.type !== "object") return { value: node.value as unknown, root };
  const value = bareObject();
  for (const property of node.children ?? []) {
    const [name, member] = property.children ?? [];
    if (!name || !member) continue;
    const key = String(name.value);
    const inside = [...path, key];
    if (root.members.has(key)) problems.push(duplicateKey(property.offset, inside));
    const read = readNode(member, inside, problems, property);
    value[key] = read.value;
    root.members.set(key, read.root);
  }
  return { value, root };
}

/** The value node at a path. Of several members with the same name it takes the last, as parsing does. */
function nodeAt(root: Node, path: Path): Node | undefined {
  let node: Node | undefined = root;
  for (const step of path) {
    if (typeof step === "number") node = node?.type === "array" ? node.children?.[step] : undefined;
    else node = node?.type === "object" ? memberOf(node, step)?.children?.[1] : undefined;
  }
  return node;
}

function memberOf(object: Node, name: string): Node | undefined {
  return object.children?.findLast((property) => property.children?.[0]?.value === name);
}

function set(text: string, path: Path, value: unknown): string {
  const { root } = treeOf(text);
  if (!root) return json.stringify(nest(path, value) as Record<string, unknown>);
  const existing = nodeAt(root, path);
  if (existing) {
    const indent = lineIndent(text, (existing.parent ?? existing).offset);
    return splice(text, existing.offset, existing.length, render(value, indent, indentUnit(text, root)));
  }
  const parent = nodeAt(root, path.slice(0, -1));
  if (parent?.type === "array" && parent.children?.length === path.at(-1))
    return insertMember(text, root, parent, undefined, value);
  let depth = path.length - 1;
  while (depth > 0 && nodeAt(root, path.slice(0, depth))?.type !== "object") depth--;
  const object = nodeAt(root, path.slice(0, depth));
  if (object?.type !== "object") return text;
  const empty = nodeAt(root, path.slice(0, depth + 1));
  if (empty?.type === "null") return set(text, path.slice(0, depth + 1), nest(path.slice(depth + 1), value));
  return insertMember(text, root, object, String(path[depth]), nest(path.slice(depth + 1), value));
}

/** Adds a member to an object, or without a name an item to a list, after the last one. */
function insertMember(
  text: string,
  root: Node,
  object: Node,
  name: string | undefined,
  value: unknown,
): string {
  const label = name === undefined ? "" : `${JSON.stringify(name)}: `;
  const unit = indentUnit(text, root);
  const last = object.children?.at(-1);
  const outer = lineIndent(text, object.offset);
  if (!last) {
    const inner = outer + unit;
    const member = `${label}${render(value, inner, unit)}`;
    const body = text.slice(object.offset + 1, object.offset + object.length - 1);
    const rest = body.trim() === "" ? `\n${outer}` : body;
    return splice(text, object.offset + 1, body.length, `\n${inner}${member}${rest}`);
  }
  const lastEnd = last.offset + last.length;
  const comma = commaAfter(text, lastEnd);
  const after = comma === undefined ? lastEnd : comma + 1;
  const lineEnd = restIsComment(text, after);
  if (lineEnd === undefined) {
    const member = label + JSON.stringify(value);
    return splice(text, after, 0, comma === undefined ? `, ${member}` : ` ${member},`);
  }
  const inner = lineIndent(text, last.offset);
  const member = `\n${inner}${label}${render(value, inner, unit)}${comma === undefined ? "" : ","}`;
  const withMember = splice(text, lineEnd, 0, member);
  return comma === undefined ? splice(withMember, lastEnd, 0, ",") : withMember;
}

function remove(text: string, path: Path): string {
  const { root } = treeOf(text);
  const property = root && nodeAt(root, path)?.parent;
  const object = property?.parent;
  if (property?.type !== "property" || !object?.children) return text;
  const index = object.children.indexOf(property);
  const comma = commaAfter(text, property.offset + property.length);
  let end = comma === undefined ? property.offset + property.length : comma + 1;
  end = restIsComment(text, end) ?? end;
  let start = property.offset;
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const ownsLine = text.slice(lineStart, start).trim() === "";
  if (ownsLine && (text[end] === "\n" || text[end] === "\r")) start = Math.max(0, lineStart - 1);
  if (start > 0 && text[start - 1] === "\r") start--;
  let result = splice(text, start, end - start, "");
  const previous = object.children[index - 1];
  if (previous && comma === undefined) {
    const stale = commaAfter(result, previous.offset + previous.length);
    if (stale !== undefined) result = splice(result, stale, 1, "");
  }
  if (object.children.length > 1) return result;
  const close = object.offset + object.length - (text.length - result.length) - 1;
  const body = result.slice(object.offset + 1, close);
  return body.trim() === "" ? splice(result, object.offset + 1, body.length, "") : result;
}

/** The offset of the next comma, if only whitespace and comments come before it. */
function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  return text[scanner.getTokenOffset()] === "," ? scanner.getTokenOffset() : undefined;
}

/** The end of the line, if the rest of it after `offset` is empty or a comment. */
function restIsComment(text: string, offset: number): number | undefined {
  const newline = text.indexOf("\n", offset);
  const end = newline === -1 ? text.length : text[newline - 1] === "\r" ? newline - 1 : newline;
  const rest = text.slice(offset, end).trim();
  const isComment =
    rest.startsWith("//") || (rest.startsWith("/*") && rest.indexOf("*/") === rest.length - 2);
  return rest === "" || isComment ? end : undefined;
}

/** Like `JSON.stringify`, but keeps a short list of plain values on one line, as people write `args`. */
function render(value: unknown, indent: string, unit: string): string {
  const isPlain = (item: unknown) => typeof item !== "object" || item === null;
  if (isPlain(value)) return JSON.stringify(value) ?? "null";
  const inner = indent + unit;
  if (Array.isArray(value)) {
    const items = value.map((item) => render(item, inner, unit));
    const line = `[${items.join(", ")}]`;
    if (items.length === 0 || (value.every(isPlain) && line.length <= 80)) return line;
    return `[\n${items.map((item) => inner + item).join(",\n")}\n${indent}]`;
  }
  const members = Object.entries(value as object)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => `${inner}${JSON.stringify(key)}: ${render(member, inner, unit)}`);
  return members.length === 0 ? "{}" : `{\n${members.join(",\n")}\n${indent}}`;
}

function indentUnit(text: string, root: Node): string {
  const first = root.children?.[0];
  return (first && lineIndent(text, first.offset)) || "  ";
}

function lineIndent(text: string, offset: number): string {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? "";
}
