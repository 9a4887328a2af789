import type { Declaration, Declaring } from "./declarations.ts";
import type { PublicName } from "./entries.ts";
import { commentBefore, membersOf, type Member, type Members } from "./members.ts";
import type { Signature, Signatures } from "./signatures.ts";

/** Finds the heading of a type. */
export type LinkTo = (declaration: Declaration) => string | undefined;

/** Declarations above this length are values whose type says nothing, such as whole tables. */
const longest = 700;
/** Above this length a union or a signature is written line by line. */
const lineLength = 110;

/** Describes one name: its comment, its signature or members, and links to the types that it uses. */
export function describeName(
  { name: title, declaration, isType }: PublicName,
  signatures: Signatures,
  linkTo: LinkTo,
): string {
  const { module, nodes } = declaration;
  const [node] = nodes;
  if (node === undefined) return "";
  const comment = withLinks(commentBefore(module, statementStart(declaration, node)));
  const { body, used } =
    node.type === "ClassDeclaration" || node.type === "TSInterfaceDeclaration"
      ? memberList(membersOf(declaration, node, signatures, isType), node.type)
      : signatureList(declaration, signatures);
  const own = linkTo(declaration);
  const links = [...new Map(used.map((one) => [linkTo(one), signatures.publicName(one) ?? one.name]))]
    .filter(([href]) => href !== undefined && href !== own)
    .map(([href, name]) => `[${name}](${href})`);
  const see = links.length > 0 ? `See ${links.join(", ")}.` : "";
  return [`#### ${title}`, comment, body, see].filter((part) => part !== "").join("\n\n");
}

/** Comments name pages by their path in the repository. */
const withLinks = (comment: string) => comment.replaceAll(/\bdocs\/([\w/-]+\.md)/g, "[$1]($1)");

/** A name on one line, and one for each field, for entries that another page describes. */
export function nameLine({ name, declaration, isType }: PublicName, signatures: Signatures): string {
  const { module, nodes } = declaration;
  const [node] = nodes;
  if (node === undefined) return `- \`${name}\``;
  const comment = commentBefore(module, statementStart(declaration, node));
  const line = `- \`${oneLine(name, declaration, node, signatures)}\`${comment === "" ? "" : `: ${comment}`}`;
  if (node.type !== "TSInterfaceDeclaration") return line;
  const { own, bases } = membersOf(declaration, node, signatures, isType);
  const inherited = bases.map(({ text }) => `- Everything of \`${text}\`.`);
  return [line, ...[...inherited, ...memberLines(own)].map((field) => `  ${field}`)].join("\n");
}

function oneLine(name: string, declaration: Declaration, node: Declaring, signatures: Signatures): string {
  if (node.type === "TSDeclareFunction" || node.type === "FunctionDeclaration")
    return signatureOf(declaration, node, signatures).text;
  if (node.type !== "TSTypeAliasDeclaration") return name;
  const { text } = signatureOf(declaration, node, signatures);
  return text.length <= lineLength ? text : name;
}

/** `export declare class` begins with `export`; the comment stands before it. */
function statementStart({ module }: Declaration, node: Declaring): number {
  const before = module.text.slice(0, node.start);
  return /(export )?(declare )?$/.exec(before)?.index ?? node.start;
}

interface Described {
  body: string;
  used: Declaration[];
}

function memberList({ own, bases }: Members, type: Declaring["type"]): Described {
  const word = type === "ClassDeclaration" ? "A class" : "An object";
  const base = bases.map(({ text }) => `\`${text}\``).join(" and ");
  const lead = base === "" ? "" : `${word} with everything of ${base}${own.length > 0 ? ", and:" : "."}`;
  const used = [...bases, ...own].flatMap(({ names }) => names);
  return { body: [lead, memberLines(own).join("\n")].filter(Boolean).join("\n\n"), used };
}

/** One line for each member. Neighbours that nothing is said about share one. */
function memberLines(members: Member[]): string[] {
  const result: string[] = [];
  let canShare = false;
  for (const { text, comment } of members) {
    const forms = text.split("\n").map((form) => `\`${withoutUndefined(form)}\``);
    const line = `${forms.join(" or ")}${comment === "" ? "" : `: ${comment}`}`;
    const isBare = comment === "" && !text.includes("(");
    const last = result.at(-1);
    if (last !== undefined && canShare && isBare && last.length + line.length < lineLength)
      result[result.length - 1] = `${last}, ${line}`;
    else result.push(`- ${line}`);
    canShare = isBare;
  }
  return result;
}

/** What is optional may be undefined anyway. */
function withoutUndefined(text: string): string {
  return text.replace(/^(\w+\?: )(?:\((\(.*)\)|(.*)) \| undefined$/, "$1$2$3");
}

function signatureList(declaration: Declaration, signatures: Signatures): Described {
  const forms = declaration.nodes.map((node) => signatureOf(declaration, node, signatures));
  const used = forms.flatMap(({ names }) => names);
  const isSettings = forms.some(({ text }) => /\bz\.\w+</.test(text));
  if (isSettings)
    return { body: "[The configuration reference](configuration.md) lists its fields.", used: [] };
  return { body: forms.map(({ text }) => code(text)).join("\n\n"), used };
}

function signatureOf({ module, name }: Declaration, node: Declaring, signatures: Signatures): Signature {
  // A statement may declare several names.
  const one =
    node.type === "VariableDeclaration"
      ? node.declarations.find(({ id }) => "name" in id && id.name === name)
      : undefined;
  const { text, names } = signatures.of(module, one ?? node);
  const shown = text.replace(/^(export )?(declare )?/, "").replace(/^(async )?function /, "");
  return { text: one ? `const ${shown}` : shown, names };
}

function code(text: string): string {
  if (text.length <= lineLength) return `\`${text}\``;
  if (text.length > longest) return `\`${text.slice(0, text.indexOf("{"))}{ … }\``;
  return `\`\`\`ts\n${lines(text)}\n\`\`\``;
}

/** Breaks a long declaration between the members of a union or the parameters of a function. */
function lines(text: string): string {
  const isType = text.startsWith("type ");
  const parts = split(text, isType ? " | " : ", ", isType ? 0 : 1);
  const isFunction = isType && split(text, " => ", 0).length > 1;
  if (parts.length < 2 || isFunction) return text;
  if (parts.slice(1).every((part) => /^"[^"]*"$|^\w+$/.test(part))) return wrapped(parts);
  if (isType) return parts.join("\n  | ").replace(" = ", " =\n  | ");
  const [head = "", ...rest] = parts;
  const open = head.indexOf("(") + 1;
  const all = [head.slice(open), ...rest];
  const last = all.pop() ?? "";
  const close = closing(last);
  const body = [...all.map((one) => `${one},`), `${last.slice(0, close)},`];
  return `${head.slice(0, open)}\n  ${body.join("\n  ")}\n${last.slice(close)}`;
}

/** A union of words, as many on a line as fit. */
function wrapped(parts: string[]): string {
  const result = [parts.shift() ?? ""];
  for (const part of parts) {
    const last = result.at(-1) ?? "";
    if (last.length + part.length + 3 <= lineLength) result[result.length - 1] = `${last} | ${part}`;
    else result.push(`  | ${part}`);
  }
  return result.join("\n");
}

/** Splits at separators that are inside exactly `depth` brackets. */
function split(text: string, separator: string, depth: number): string[] {
  const parts: string[] = [];
  let level = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    level += depthChange(text, at);
    if (level === depth && text.startsWith(separator, at)) {
      parts.push(text.slice(from, at));
      from = at + separator.length;
    }
  }
  return [...parts, text.slice(from)];
}

/** Where the bracket is that closes the parameters. */
function closing(text: string): number {
  let level = 0;
  for (let at = 0; at < text.length; at++) {
    level += depthChange(text, at);
    if (level < 0) return at;
  }
  return text.length;
}

function depthChange(text: string, at: number): number {
  if (text.startsWith("=>", at - 1)) return 0;
  const char = text[at] ?? "";
  return "({[<".includes(char) ? 1 : ")}]>".includes(char) ? -1 : 0;
}
