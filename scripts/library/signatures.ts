import type { Declaration, Declarations, Module } from "./declarations.ts";

export interface Range {
  start: number;
  end: number;
}

/** A piece of a declaration as text, with the types that it names. */
export interface Signature {
  text: string;
  /** The types of ours that are named in the text. */
  names: Declaration[];
}

/** Types that nobody can import are written out where that takes less room than this. */
const shortLength = 90;

/** Writes pieces of declarations on one line, without comments. */
export class Signatures {
  readonly declarations: Declarations;
  /** The name under which something can be imported; undefined if it cannot. */
  readonly publicName: (declaration: Declaration) => string | undefined;

  constructor(declarations: Declarations, publicName: Signatures["publicName"]) {
    this.declarations = declarations;
    this.publicName = publicName;
  }

  /** The text of a range of a module. `node` is what is searched for type names. */
  of(module: Module, node: Range, depth = 0): Signature {
    const names: Declaration[] = [];
    const changes: (Range & { by: string })[] = module.comments
      .filter(({ start, end }) => start >= node.start && end <= node.end)
      .map(({ start, end }) => ({ start, end, by: "" }));
    for (const part of nodesIn(node)) {
      if (part.type === "ObjectPattern" && part.typeAnnotation) {
        // `{ a, b }: Options` says everything twice.
        const mark = part.optional ? "options?" : "options";
        changes.push({ start: part.start, end: part.typeAnnotation.start, by: mark });
      }
      const words = this.#wordsOf(module, part);
      if (words !== undefined) changes.push({ start: part.start, end: part.end, by: words });
      const name = words === undefined ? referenceOf(part) : undefined;
      const found = name === undefined ? undefined : this.declarations.find(module, name);
      if (found === undefined) continue;
      const known = this.publicName(found);
      const mayInline = depth < 3 && !part["typeArguments"] && known === undefined;
      const inlined = mayInline ? this.short(found, depth) : undefined;
      if (inlined === undefined) {
        names.push(found);
        if (known !== undefined && name !== undefined && known !== name)
          changes.push({ start: part.start, end: part.start + name.length, by: known });
      } else {
        names.push(...inlined.names);
        const isList = module.text.startsWith("[]", part.end) && /[|&=]/.test(inlined.text);
        changes.push({ start: part.start, end: part.end, by: isList ? `(${inlined.text})` : inlined.text });
      }
    }
    return { text: oneLine(replaced(module.text, node, changes)), names };
  }

  /** `(typeof list)[number]`: the words in a list. */
  #wordsOf({ text, declared }: Module, { type, start, end }: Part): string | undefined {
    if (type !== "TSIndexedAccessType") return undefined;
    const [, name = ""] = /^\(typeof (\w+)\)\[number\]$/.exec(text.slice(start, end)) ?? [];
    const [list] = declared.get(name) ?? [];
    const words = list && [...text.slice(list.start, list.end).matchAll(/"[^"]*"/g)].join(" | ");
    return words === "" ? undefined : words;
  }

  /** The meaning of a type if it is short. */
  short({ module, nodes: [node] }: Declaration, depth: number): Signature | undefined {
    if (node === undefined) return undefined;
    if ("typeParameters" in node && node.typeParameters) return undefined;
    let range: Range | undefined;
    if (node.type === "TSTypeAliasDeclaration") range = node.typeAnnotation;
    else if (node.type === "TSInterfaceDeclaration" && node.extends.length === 0) range = node.body;
    if (range === undefined) return undefined;
    const signature = this.of(module, range, depth + 1);
    const isForeign = /\btypeof\b|\bz\./.test(signature.text);
    return signature.text.length <= shortLength && !isForeign ? signature : undefined;
  }
}

interface Part extends Range {
  type: string;
  optional?: boolean;
  typeAnnotation?: Range | null;
  [key: string]: unknown;
}

/** A node and everything in it. */
function* nodesIn(node: unknown): Generator<Part> {
  if (typeof node !== "object" || node === null) return;
  if ("type" in node && "start" in node) yield node as Part;
  for (const value of Object.values(node)) yield* nodesIn(value);
}

function referenceOf(part: Part): string | undefined {
  const named = { TSTypeReference: "typeName", TSTypeQuery: "exprName", TSInterfaceHeritage: "expression" };
  const field = named[part.type as keyof typeof named];
  const target = field === undefined ? undefined : (part[field] as Part & { name?: string });
  return target?.type === "Identifier" ? target.name : undefined;
}

function replaced(text: string, { start, end }: Range, changes: (Range & { by: string })[]): string {
  let result = "";
  let at = start;
  for (const change of changes.toSorted((a, b) => a.start - b.start)) {
    if (change.start < at) continue;
    result += text.slice(at, change.start) + change.by;
    at = change.end;
  }
  return result + text.slice(at, end);
}

function oneLine(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/; }/g, " }")
    .replaceAll(/, ([)\]}])/g, "$1")
    .replaceAll(/\?: ([^;(){}]+) \| undefined(?=[;,)} ]|$)/g, "?: $1")
    .replace(/;$/, "")
    .trim();
}
