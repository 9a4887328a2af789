import { formatPath, type Path } from "../../../config/documents/document.ts";
import { bothOf, propertiesOf } from "./merge-schemas.ts";
import { referenceIn } from "../parts.ts";
import { createReferences, type References } from "../references.ts";
import { tidy, type Schema } from "./tidy.ts";

/** What was lost for a target, and its path in the original schema. */
export interface CompileNote {
  path: string;
  message: string;
}

/** Keywords that hardly any model API supports. */
export const rareKeywords =
  "patternProperties propertyNames unevaluatedProperties unevaluatedItems uniqueItems contains not if dependentRequired dependentSchemas".split(
    " ",
  );

/** Inlining may multiply a schema; larger ones are too big to be useful to a model. */
const compiledParts = 10_000;
const maxNotes = 100;

/** The state of one rewrite: the targets of references, what was lost, how much the schema has grown. */
export class Work {
  readonly root: Schema;
  readonly notes: CompileNote[] = [];
  readonly #references: References;
  readonly #refOverrides: boolean;
  readonly #names = new Map<object, string>();
  #parts = 0;

  constructor(root: Schema) {
    this.root = root;
    this.#references = createReferences(root);
    this.#refOverrides = /draft-0[3-7]/.test(String(root["$schema"]));
  }

  note(path: Path, message: string): void {
    const note = { path: formatPath(path), message };
    const isKnown = this.notes.some((other) => other.path === note.path && other.message === message);
    if (!isKnown && this.notes.length < maxNotes) this.notes.push(note);
  }

  /** Adds a note for each of these keywords that the node has. */
  noteLost(node: Schema, keywords: readonly string[], path: Path): void {
    for (const keyword of keywords)
      if (keyword in node) this.note([...path, keyword], `${keyword} is not supported and was left out.`);
  }

  /** Converts the node to draft 2020-12. Called once for every node that is written. */
  tidy(schema: unknown, path: Path): Schema | boolean {
    this.#grow(1, path);
    return tidy(schema, this.#refOverrides);
  }

  /** Merges two schemas. Merging visits every property again, so it counts towards growth too. */
  both(a: Schema, b: Schema, path: Path): Schema {
    this.#grow((Object.keys(propertiesOf(a)).length + Object.keys(propertiesOf(b)).length) / 8, path);
    return bothOf(a, b, (keyword) =>
      this.note([...path, keyword], `Two different values of ${keyword} apply; one was kept.`),
    );
  }

  #grow(parts: number, path: Path): void {
    this.#parts += parts;
    if (this.#parts > compiledParts)
      throw new Inexpressible(
        path,
        `it grows beyond ${compiledParts} parts when references are expanded`,
        true,
      );
  }

  target(schema: Schema): unknown {
    return this.#references.resolve(referenceIn(schema) ?? "#", schema);
  }

  /** The name of a referenced schema in `$defs`. */
  nameOf(target: object, reference: string): string {
    const known = this.#names.get(target);
    if (known !== undefined) return known;
    const wish =
      reference
        .replace(/^.*[#/]/, "")
        .replaceAll(/[^\w-]/g, "_")
        .slice(0, 60) || "schema";
    const taken = new Set(this.#names.values());
    let name = wish;
    for (let number = 2; taken.has(name); number++) name = `${wish}_${number}`;
    this.#names.set(target, name);
    return name;
  }

  /** The referenced schemas, in the order of the references. */
  get named(): ReadonlyMap<object, string> {
    return this.#names;
  }
}

/** The target cannot express this schema. */
export class Inexpressible extends Error {
  readonly path: Path;
  /** True if leaving out the optional part around it would not help. */
  readonly isFinal: boolean;
  constructor(path: Path, reason: string, isFinal = false) {
    super(reason);
    this.path = path;
    this.isFinal = isFinal;
  }
}

/** Returns the result of `write`, or undefined after calling `otherwise` if the schema cannot be expressed. */
export function orLeaveOut<T>(write: () => T, otherwise: (reason: string) => void): T | undefined {
  try {
    return write();
  } catch (error) {
    if (!(error instanceof Inexpressible) || error.isFinal) throw error;
    otherwise(error.message);
    return undefined;
  }
}

/** `$defs` for every referenced schema, including indirect references. */
export function definitions(work: Work, write: (schema: unknown, path: Path) => unknown): Schema {
  const written: Schema = {};
  const done = new Set<object>();
  for (;;) {
    const next = [...work.named].find(([target]) => !done.has(target));
    if (next === undefined) return Object.keys(written).length === 0 ? {} : { $defs: written };
    done.add(next[0]);
    written[next[1]] = write(next[0], ["$defs", next[1]]);
  }
}
