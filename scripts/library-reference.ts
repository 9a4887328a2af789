import { anchorsOf } from "./library/anchors.ts";
import { Declarations, type Declaration } from "./library/declarations.ts";
import { readEntries, type Entry, type PublicName } from "./library/entries.ts";
import { describeName, nameLine, type LinkTo } from "./library/names.ts";
import { Signatures } from "./library/signatures.ts";

/** What follows this line in docs/library.md is generated. */
const mark =
  "<!-- The rest is written by `npm run generate` from the types and their comments. Do not edit it. -->";

const others = "Types without an import";
const aboutOthers =
  "The types above mention these. They have no import of their own; `Parameters<…>` and `ReturnType<…>` reach them.";

/** Generates the second half of docs/library.md from the declarations that the compiler writes. Keeps its chapters. */
export function libraryReference(current: string): string {
  if (!current.includes(mark)) throw new Error(`docs/library.md lacks this line:\n${mark}`);
  const [chapters = ""] = current.split(mark);
  using declarations = new Declarations();
  const entries = readEntries(declarations);
  const names = entries.flatMap(({ groups }) => groups.flatMap((group) => group.names));
  const known = new Map(names.map(({ name, declaration }) => [declaration.nodes[0], name]));
  const signatures = new Signatures(declarations, ({ nodes }) => known.get(nodes[0]));
  const here = entries.filter((entry) => pageOf(entry) === undefined);
  const rest = unexported(here, signatures);
  const sections = withoutRepeats([
    ...entries,
    { specifier: others, comment: aboutOthers, groups: [{ title: "", names: rest }] },
  ]);
  const linkTo = links(chapters, sections);
  const texts = sections.map((entry) => entryText(entry, signatures, linkTo));
  return `${chapters}${mark}\n\n## Reference\n\n${indexOf(here, linkTo)}\n\n${texts.join("\n\n")}\n`;
}

/** Several entries have the same names: each is described where it comes first, and the others link to it. */
function withoutRepeats(entries: readonly Entry[]): Entry[] {
  const seen = new Set<unknown>();
  return entries.map((entry) => {
    if (pageOf(entry) !== undefined) return entry;
    const isNew = ({ declaration }: PublicName) => {
      const [node] = declaration.nodes;
      return !seen.has(node) && seen.add(node);
    };
    const groups = entry.groups.map(({ title, names }) => ({ title, names: names.filter(isNew) }));
    return { ...entry, groups: groups.filter(({ names }) => names.length > 0) };
  });
}

/** All names that can be imported, by group. */
function indexOf(entries: Entry[], linkTo: LinkTo): string {
  const lines = entries.flatMap(({ specifier, groups }) =>
    groups.map(({ title, names }) => {
      const all = names.map(({ name, declaration }) => `[${name}](${linkTo(declaration)})`);
      return `- **${title || `\`${specifier}\``}**: ${all.join(", ")}`;
    }),
  );
  return lines.join("\n");
}

function entryText(entry: Entry, signatures: Signatures, linkTo: LinkTo): string {
  const page = pageOf(entry);
  const introduction = page ? entry.comment.replace(`docs/${page}`, `[${page}](${page})`) : entry.comment;
  const heading = [`## ${headingOf(entry)}`, introduction].filter(Boolean).join("\n\n");
  if (page !== undefined) {
    const lines = entry.groups.flatMap(({ names }) => names.map((name) => nameLine(name, signatures)));
    return `${heading}\n\n${lines.join("\n")}`;
  }
  const texts = entry.groups.map(({ title, names }) => {
    const all = names.map((name) => describeName(name, signatures, linkTo));
    return [...(title === "" ? [] : [`### ${title}`]), ...all].join("\n\n");
  });
  return [heading, ...texts].join("\n\n");
}

function headingOf({ specifier }: Entry): string {
  return specifier === others ? specifier : `From "${specifier}"`;
}

/** The page that describes an entry, if the comment in its source names one. */
function pageOf({ comment }: Entry): string | undefined {
  return /\bSee docs\/([\w-]+\.md)/.exec(comment)?.[1];
}

/** What the names mention and nobody can import, if it is too long to be written out there. */
function unexported(entries: Entry[], signatures: Signatures): PublicName[] {
  const found = new Map<unknown, PublicName>();
  const visit = (name: PublicName) => {
    const mentioned: Declaration[] = [];
    describeName(name, signatures, (one) => {
      mentioned.push(one);
      return undefined;
    });
    for (const one of mentioned) {
      const [node] = one.nodes;
      const isKnown = signatures.publicName(one) !== undefined || found.has(node);
      if (isKnown || node?.type === "VariableDeclaration") continue;
      const other = { name: one.name, declaration: one, isType: true };
      found.set(node, other);
      visit(other);
    }
  };
  for (const { groups } of entries) groups.forEach(({ names }) => names.forEach(visit));
  return [...found.values()].toSorted((a, b) => a.name.localeCompare(b.name));
}

/** Where each name is described. */
function links(chapters: string, entries: Entry[]): LinkTo {
  const anchorOf = anchorsOf(chapters);
  anchorOf("Reference");
  const hrefs = new Map<unknown, string>();
  for (const entry of entries) {
    const href = anchorOf(headingOf(entry));
    for (const { title, names } of entry.groups) {
      if (title !== "") anchorOf(title);
      for (const { name, declaration } of names) {
        const own = pageOf(entry) === undefined ? anchorOf(name) : href;
        if (!hrefs.has(declaration.nodes[0])) hrefs.set(declaration.nodes[0], own);
      }
    }
  }
  return ({ nodes }) => hrefs.get(nodes[0]);
}
