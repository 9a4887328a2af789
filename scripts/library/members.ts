import type { Comment, Declaration, Module, WithMembers } from "./declarations.ts";
import type { Range, Signature, Signatures } from "./signatures.ts";

/** One field or method, ready to be listed. */
export interface Member extends Signature {
  name: string;
  comment: string;
}

type MemberNode = WithMembers["body"]["body"][number];

/** What a class or interface has, with what it takes over from types that nobody can import. */
export interface Members {
  own: Member[];
  /** The public types that it extends. */
  bases: Signature[];
}

/** `isType`: leaves out what only the class itself has, its constructor and static members. */
export function membersOf(
  declaration: Declaration,
  node: WithMembers,
  signatures: Signatures,
  isType = false,
): Members {
  const { module } = declaration;
  const own: Member[] = [];
  const bases: Signature[] = [];
  for (const one of node.body.body) {
    const comment = commentBefore(module, one.start);
    if (isHidden(one) || comment.includes("@internal") || (isType && isOfClass(one))) continue;
    const signature = signatures.of(module, one);
    const { names } = signature;
    const text = signature.text.replace(/^readonly /, "").replace(/^get (.*)\(\)/, "$1");
    const [name = ""] = /^[^(:?<]*/.exec(text) ?? [];
    const shown = name === "constructor" ? text.replace("constructor", `new ${declaration.name}`) : text;
    const previous = own.at(-1);
    // An overload has the comment of the first.
    if (previous?.name === name && comment === "") {
      previous.text += `\n${shown}`;
      previous.names.push(...names);
    } else own.push({ name, text: shown, names, comment });
  }
  for (const base of basesOf(node)) {
    const taken = takenOver(module, base, signatures);
    if (taken === undefined) bases.push(signatures.of(module, base));
    else {
      own.push(...taken.own);
      bases.push(...taken.bases);
    }
  }
  return { own, bases };
}

function basesOf(node: WithMembers): Range[] {
  if ("superClass" in node) return node.superClass ? [node.superClass] : [];
  return node.extends;
}

/** The members of an internal base, also of `Omit<Base, "a">` and `Pick<Base, "a" | "b">`. */
function takenOver(module: Module, base: Range, signatures: Signatures): Members | undefined {
  const text = module.text.slice(base.start, base.end);
  const [, word, name = text, keys = ""] = /^(Omit|Pick)<(\w+), ([^>]*)>$/.exec(text) ?? [];
  const found = signatures.declarations.find(module, name);
  const node = found?.nodes[0];
  if (found === undefined || node?.type !== "TSInterfaceDeclaration") return undefined;
  if (signatures.publicName(found) !== undefined) return undefined;
  const named = new Set([...keys.matchAll(/"(\w+)"/g)].map(([, key]) => key));
  const { own, bases } = membersOf(found, node, signatures);
  const isKept = (key: string) => word === undefined || named.has(key) === (word === "Pick");
  return { own: own.filter((one) => isKept(one.name)), bases };
}

/** What is private, protected or named by a symbol that only the language uses. */
function isHidden(member: MemberNode): boolean {
  if ("accessibility" in member && (member.accessibility ?? "public") !== "public") return true;
  return "key" in member && member.key.type === "PrivateIdentifier";
}

function isOfClass(member: MemberNode): boolean {
  const isConstructor = "kind" in member && member.kind === "constructor";
  return isConstructor || ("static" in member && member.static);
}

/** The text of the comment that ends right before a place. */
export function commentBefore({ comments, text }: Module, place: number): string {
  const comment = comments.findLast(({ end }) => end <= place);
  if (comment === undefined || !/^\s*$/.test(text.slice(comment.end, place))) return "";
  return textOf(comment);
}

/** The text of the comment that a file begins with. */
export function commentAtTop({ comments: [first] }: Module): string {
  return first?.start === 0 ? textOf(first) : "";
}

function textOf(comment: Comment): string {
  if (comment.type !== "Block" || !comment.value.startsWith("*")) return "";
  return comment.value
    .slice(1)
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trim())
    .join(" ")
    .trim();
}
