import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commentAtTop } from "./members.ts";
import { declarationFile, readModule, type Declaration, type Declarations } from "./declarations.ts";

/** One thing to import from: `plugboard`, `plugboard/gateway`, … */
export interface Entry {
  specifier: string;
  /** The comment at the top of its source. If it names a page, that page has the details. */
  comment: string;
  groups: Group[];
}

/** Names that stand together in the entry's source, under its comment. */
export interface Group {
  title: string;
  names: PublicName[];
}

export interface PublicName {
  name: string;
  declaration: Declaration;
  /** True if only the type can be imported, so that a class cannot be constructed. */
  isType: boolean;
}

/** Which source a built file comes from. */
const sources: readonly [built: string, source: string][] = [
  ["./dist/testing/", "test/fixtures/"],
  ["./dist/", "src/"],
];

/** Every entry of package.json that has types, in the order in which they are listed there. */
export function readEntries(declarations: Declarations): Entry[] {
  const { name, exports } = JSON.parse(readFileSync("package.json", "utf8")) as {
    name: string;
    exports: Record<string, string | { types: string }>;
  };
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === "string"
      ? []
      : [{ specifier: join(name, path), ...readEntry(target.types, declarations) }],
  );
}

function readEntry(types: string, declarations: Declarations): Pick<Entry, "comment" | "groups"> {
  const [built, folder] = sources.find(([prefix]) => types.startsWith(prefix)) ?? ["./", ""];
  const source = readModule(types.replace(built, folder).replace(/\.d\.ts$/, ".ts"));
  const file = join(declarations.folder, types.replace("./dist/", ""));
  const groups: Group[] = [];
  // Between the statements: what stands inside of a function is about that function.
  const headings = source.comments.filter(
    ({ type, start }) => type === "Line" && (start === 0 || source.text[start - 1] === "\n"),
  );
  for (const { start, name, from, local, isType = false } of source.exported) {
    const comment = headings.findLast(({ end }) => end < start);
    const title = comment?.value.trim().replace(/\.$/, "");
    const group = groups.find((one) => one.title === (title ?? ""));
    const names = group?.names ?? [];
    if (group === undefined) groups.push({ title: title ?? "", names });
    const module = declarations.module(file);
    if (name === undefined) names.push(...allOf(declarations, file, from ?? ""));
    else {
      const found = from
        ? declarations.findExport(module, from, local ?? name)
        : declarations.find(module, name);
      if (found === undefined) throw new Error(`${types} exports ${name}, which is declared nowhere`);
      names.push({ name, declaration: found, isType });
    }
  }
  const all = groups.map(({ title, names }) => ({ title, names: unique(names) }));
  return { comment: commentAtTop(source), groups: all };
}

/** All names behind `export *`. */
function allOf(declarations: Declarations, importer: string, from: string): PublicName[] {
  const file = declarationFile(importer, from);
  if (file === undefined) return [];
  const module = declarations.module(file);
  return module.exported.flatMap(({ name, local, from: origin, isType = false }): PublicName[] => {
    if (name === undefined) return allOf(declarations, file, origin ?? "");
    const found = origin
      ? declarations.findExport(module, origin, local ?? name)
      : declarations.find(module, local ?? name);
    return found === undefined ? [] : [{ name, declaration: found, isType }];
  });
}

const unique = (names: PublicName[]) => [...new Map(names.map((one) => [one.name, one])).values()];
