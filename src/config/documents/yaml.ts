import { isMap, isScalar, isSeq, parseDocument, stringify } from "yaml";
import type { Document, Node, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { bareObject, duplicateKey, nest, splice } from "./document.ts";
import type { ConfigDocument, Located, Notation, Path, SyntaxProblem } from "./document.ts";

export const yaml: Notation = { parse, set, remove, stringify: (value) => stringify(value, textOptions) };

/** We write no folded lines and no aliases. */
const textOptions = { lineWidth: 0, aliasDuplicateObjects: false } as const;
/** How often an alias may repeat a value; an alias bomb needs thousands. */
const maxAliasCount = 100;

/** The parser compares every key with all others of its map to find duplicates; `locate` does that with an index. */
function read(text: string): Document {
  return parseDocument(text, { merge: false, uniqueKeys: false, prettyErrors: false });
}

function parse(text: string): ConfigDocument {
  const document = read(text);
  const overflow = document.errors.some((error) => error.message.includes("call stack"));
  if (overflow) throw new RangeError("nested too deeply");
  const problems: SyntaxProblem[] = document.errors.map((error) => ({
    message: error.message.replace(/\.$/, ""),
    offset: error.pos[0],
  }));
  if (problems.length > 0) return { value: bareObject(), problems };
  try {
    const value: unknown = document.toJS({ maxAliasCount, reviver: withoutPrototype });
    const root = document.contents ? locate(document.contents, [], problems) : undefined;
    return { value: value ?? bareObject(), problems, root };
  } catch (error) {
    if (error instanceof RangeError) throw error;
    const isBomb = error instanceof ReferenceError;
    const message = isBomb ? "aliases (`*name`) repeat too much of the document" : String(error);
    return { value: bareObject(), problems: [{ message, offset: 0 }] };
  }
}

/** Where a node and its members stand. `key` is its name, where it has one. */
function locate(node: Node | null, path: Path, problems: SyntaxProblem[], key?: Node): Located {
  const [start = 0] = (key ?? node)?.range ?? [];
  const root: Located = { start, end: (node ?? key)?.range?.[1] ?? start, members: new Map() };
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries())
      root.members.set(index, locate(item as Node | null, [...path, index], problems));
  }
  if (!isMap(node)) return root;
  for (const { key: name, value } of pairsOf(node)) {
    if (!isScalar(name)) continue;
    const text = keyText(name);
    const inside = [...path, text];
    if (root.members.has(text)) problems.push(duplicateKey(name.range?.[0] ?? 0, inside));
    root.members.set(text, locate(value, inside, problems, name));
  }
  return root;
}

function withoutPrototype(_key: unknown, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const object = bareObject();
  for (const name of Object.keys(value)) {
    Object.defineProperty(object, name, { ...Object.getOwnPropertyDescriptor(value, name) });
  }
  return object;
}

type AnyPair = Pair<Node, Node | null>;

function pairsOf(map: YAMLMap): AnyPair[] {
  return map.items as unknown as AnyPair[];
}

/** A key as a member's name: `1`, `true` and an empty key are names too. */
function keyText(key: Scalar): string {
  const { value } = key as Scalar<string | number | boolean | null>;
  return value === null ? "" : String(value);
}

function pairAt(map: YAMLMap, name: string): AnyPair | undefined {
  return pairsOf(map).find((pair) => isScalar(pair.key) && keyText(pair.key) === name);
}

function nodeAt(document: Document, path: Path): Node | null | undefined {
  let node: Node | null | undefined = document.contents;
  for (const step of path) {
    if (typeof step === "number") node = isSeq(node) ? (node.items[step] as Node | undefined) : undefined;
    else node = isMap(node) ? pairAt(node, step)?.value : undefined;
  }
  return node;
}

function set(text: string, path: Path, value: unknown): string {
  const document = read(text);
  const list = nodeAt(document, path.slice(0, -1));
  if (isSeq(list) && list.items.length === path.at(-1)) return addItem(text, list, value);
  let depth = path.length - 1;
  while (depth > 0 && !isMap(nodeAt(document, path.slice(0, depth)))) depth--;
  const map = nodeAt(document, path.slice(0, depth));
  const name = String(path[depth]);
  const member = nest(path.slice(depth + 1), value);
  if (!isMap(map)) return appendBlock(text, "", name, member);
  const existing = pairAt(map, name);
  if (existing) return replacePair(text, map, existing, name, member);
  return addPair(text, map, name, member);
}

function replacePair(text: string, map: YAMLMap, pair: AnyPair, name: string, value: unknown): string {
  const start = pair.key.range?.[0] ?? 0;
  const end = endOf(text, pair);
  const replacement = map.flow
    ? flowPair(name, value)
    : blockPair(name, value, indentAt(text, start)).trimStart();
  return splice(text, start, end - start, replacement);
}

function addPair(text: string, map: YAMLMap, name: string, value: unknown): string {
  const last = pairsOf(map).at(-1);
  if (map.flow || !last) {
    const open = map.range?.[0] ?? 0;
    if (!last) return splice(text, open, (map.range?.[1] ?? open) - open, `{ ${flowPair(name, value)} }`);
    return splice(text, endOf(text, last), 0, `, ${flowPair(name, value)}`);
  }
  const indent = indentAt(text, last.key.range?.[0] ?? 0);
  const newline = text.indexOf("\n", endOf(text, last));
  const end = newline === -1 ? text.length : newline + 1;
  return appendBlock(text.slice(0, end), indent, name, value) + text.slice(end);
}

function addItem(text: string, list: YAMLSeq, value: unknown): string {
  const last = list.items.at(-1) as Node | undefined;
  const [start = 0, end = start] = list.range ?? [];
  if (list.flow || !last) {
    const item = JSON.stringify(value);
    if (!last) return splice(text, start, end - start, `[${item}]`);
    return splice(text, last.range?.[1] ?? start, 0, `, ${item}`);
  }
  const newline = text.indexOf("\n", trimmedEnd(text, last.range?.[1] ?? end));
  const at = newline === -1 ? text.length : newline + 1;
  const item = indented(stringify([value], textOptions), indentAt(text, start));
  return `${text.slice(0, at)}${newline === -1 ? "\n" : ""}${item}\n${text.slice(at)}`;
}

function removeItem(text: string, list: YAMLSeq, index: number): string {
  const item = list.items[index] as Node | undefined;
  const [start = 0, end = start] = list.range ?? [];
  if (!item?.range) return text;
  if (list.items.length === 1) return splice(text, start, trimmedEnd(text, end) - start, "[]");
  const next = (list.items[index + 1] as Node | undefined)?.range?.[0];
  if (list.flow) {
    const from = next === undefined ? ((list.items[index - 1] as Node).range?.[1] ?? start) : item.range[0];
    return splice(text, from, (next ?? item.range[1]) - from, "");
  }
  const lineStart = text.lastIndexOf("\n", item.range[0] - 1) + 1;
  const newline = text.indexOf("\n", trimmedEnd(text, item.range[1]));
  return splice(text, lineStart, (newline === -1 ? text.length : newline + 1) - lineStart, "");
}

function appendBlock(text: string, indent: string, name: string, value: unknown): string {
  const separator = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${text}${separator}${blockPair(name, value, indent)}\n`;
}

function remove(text: string, path: Path): string {
  const document = read(text);
  const map = nodeAt(document, path.slice(0, -1));
  if (isSeq(map)) return removeItem(text, map, Number(path.at(-1)));
  const pair = isMap(map) ? pairAt(map, String(path.at(-1))) : undefined;
  if (!isMap(map) || !pair) return text;
  const start = pair.key.range?.[0] ?? 0;
  const end = endOf(text, pair);
  if (pairsOf(map).length === 1) {
    if (map.flow)
      return splice(text, map.range?.[0] ?? 0, (map.range?.[1] ?? 0) - (map.range?.[0] ?? 0), "{}");
    return splice(text, start, end - start, "{}");
  }
  if (!map.flow) {
    const lineStart = text.lastIndexOf("\n", start - 1) + 1;
    const newline = text.indexOf("\n", end);
    return splice(text, lineStart, (newline === -1 ? text.length : newline + 1) - lineStart, "");
  }
  const index = pairsOf(map).indexOf(pair);
  const next = pairsOf(map)[index + 1];
  const previous = pairsOf(map)[index - 1];
  const from = next ? start : previous ? endOf(text, previous) : start;
  const to = next ? (next.key.range?.[0] ?? end) : end;
  return splice(text, from, to - from, "");
}

/** The end of a pair's value, before any line break and comments that follow it. */
function endOf(text: string, pair: AnyPair): number {
  const end = pair.value?.range?.[1] ?? pair.key.range?.[1] ?? 0;
  const here = trimmedEnd(text, end);
  if (here === end || !pair.value) return here;
  return Math.max(here, pair.key.range?.[1] ?? 0);
}

function trimmedEnd(text: string, end: number): number {
  let here = end;
  while (here > 0 && /\s/.test(text[here - 1] ?? "")) here--;
  return here;
}

function blockPair(name: string, value: unknown, indent: string): string {
  return indented(stringify({ [name]: value }, textOptions), indent);
}

function indented(text: string, indent: string): string {
  return text.trimEnd().replaceAll(/^(?=.)/gm, indent);
}

function flowPair(name: string, value: unknown): string {
  return `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
}

/** What comes before it in its line, as spaces: in a list, also the dash of its item. */
function indentAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const [before = ""] = /^(?: |-(?= ))*/.exec(text.slice(lineStart, offset)) ?? [];
  return " ".repeat(before.length);
}
