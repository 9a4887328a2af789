import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseSync } from "rolldown/utils";

type Parsed = ReturnType<typeof parseSync>;
type Statement = Parsed["program"]["body"][number];
const kinds = [
  "ClassDeclaration",
  "FunctionDeclaration",
  "TSDeclareFunction",
  "TSInterfaceDeclaration",
  "TSTypeAliasDeclaration",
  "VariableDeclaration",
] as const;
type Kind = (typeof kinds)[number];
/** The nodes of a kind; some stand for several kinds. */
type NodeOf<K extends Kind, S = Statement> = S extends { type: infer T }
  ? K & T extends never
    ? never
    : S
  : never;
/** What declares a name. An overloaded function has several. */
export type Declaring = NodeOf<Kind>;
export type WithMembers = NodeOf<"ClassDeclaration" | "TSInterfaceDeclaration">;
export type Comment = Parsed["comments"][number];

/** One name as a file declares it. */
export interface Declaration {
  module: Module;
  name: string;
  nodes: Declaring[];
}

/** One parsed file. */
export interface Module {
  file: string;
  text: string;
  comments: Comment[];
  declared: Map<string, Declaring[]>;
  /** Names that come from other files, by their name here. */
  borrowed: Map<string, { from: string; name: string }>;
  exported: Exported[];
}

/** `name` is absent for `export *`. `start` is where the statement begins. */
export interface Exported {
  start: number;
  name?: string;
  local?: string;
  from?: string;
  /** True for `export type`: a class can then not be constructed. */
  isType?: boolean;
}

/** The declarations of the whole library, written by the compiler to a folder that is gone afterwards. */
export class Declarations implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "plugboard-declarations-"));
  readonly #modules = new Map<string, Module>();

  /** Compiles as the build does, so that `dist/…` of package.json is found under `folder`. */
  constructor() {
    const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));
    try {
      for (const [config, place] of [
        ["tsconfig.build.json", "."],
        ["tsconfig.testing.json", "testing"],
      ] as const) {
        // Whether the types are right is for `npm run check` to say.
        const output = ["--emitDeclarationOnly", "--noCheck", "--outDir", join(this.folder, place)];
        const tsc = [join(typescript, "bin", "tsc"), "-p", config, ...output];
        execFileSync(process.execPath, tsc, { stdio: ["ignore", "inherit", "inherit"] });
      }
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  module(file: string): Module {
    const known = this.#modules.get(file) ?? readModule(file);
    this.#modules.set(file, known);
    return known;
  }

  /** Where a name of a module is declared; undefined for names of other packages and of the language. */
  find(module: Module, name: string): Declaration | undefined {
    const nodes = module.declared.get(name);
    if (nodes !== undefined) return { module, name, nodes };
    const borrowed = module.borrowed.get(name);
    return borrowed && this.findExport(module, borrowed.from, borrowed.name);
  }

  findExport(importer: Module, from: string, name: string): Declaration | undefined {
    const file = declarationFile(importer.file, from);
    if (file === undefined) return undefined;
    const module = this.module(file);
    for (const one of module.exported) {
      const isStar = one.name === undefined;
      if (!isStar && one.name !== name) continue;
      const wanted = isStar ? name : (one.local ?? name);
      const found = one.from ? this.findExport(module, one.from, wanted) : this.find(module, wanted);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

/** The declarations of `./x.ts` are in `./x.d.ts`. Undefined for other packages. */
export function declarationFile(importer: string, from: string): string | undefined {
  if (!from.startsWith(".")) return undefined;
  const file = resolve(dirname(importer), from.replace(/\.[jt]s$/, ".d.ts"));
  return existsSync(file) ? file : undefined;
}

export function readModule(file: string): Module {
  const text = readFileSync(file, "utf8");
  const { program, comments, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  const module: Module = {
    file,
    text,
    comments,
    declared: new Map(),
    borrowed: new Map(),
    exported: [],
  };
  for (const statement of program.body) readStatement(statement, module);
  return module;
}

function readStatement(statement: Statement, { declared, borrowed, exported }: Module): void {
  const { start } = statement;
  if (statement.type === "ImportDeclaration") {
    for (const one of statement.specifiers)
      if (one.type === "ImportSpecifier")
        borrowed.set(one.local.name, { from: statement.source.value, name: nameOf(one.imported) });
  } else if (statement.type === "ExportAllDeclaration") {
    exported.push({ start, from: statement.source.value });
  } else if (statement.type === "ExportNamedDeclaration") {
    const from = statement.source ? { from: statement.source.value } : {};
    for (const one of statement.specifiers) {
      const isType = statement.exportKind === "type" || one.exportKind === "type";
      exported.push({ start, name: nameOf(one.exported), local: nameOf(one.local), isType, ...from });
    }
    for (const name of declare(statement.declaration, declared)) exported.push({ start, name });
  } else declare(statement, declared);
}

function declare(node: unknown, declared: Module["declared"]): string[] {
  if (!isDeclaring(node)) return [];
  const names =
    node.type === "VariableDeclaration"
      ? node.declarations.map(({ id }) => ("name" in id ? id.name : ""))
      : [node.id?.name ?? ""];
  for (const name of names) declared.set(name, [...(declared.get(name) ?? []), node]);
  return names;
}

function isDeclaring(node: unknown): node is Declaring {
  return kinds.some((kind) => (node as { type?: string } | null)?.type === kind);
}

const nameOf = (node: { name: string } | { value: string }) => ("name" in node ? node.name : node.value);
