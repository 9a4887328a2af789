import { canonicalJson, sha256 } from "../../lib/canonical.ts";

/** What a lock file says about one server. Never modified; a file that changed gives new pins. */
export interface ServerPins {
  /** The lock file, whether it exists or not. */
  readonly file: string;
  /** Changes with the content of the file. */
  readonly stamp: string;
  /** Why the pins cannot be read. Then nothing of the server is offered. */
  readonly broken?: string;
  /** True if that is so for the whole file, which is then not written either. */
  readonly isFileBroken?: true;
  readonly instructions?: Pin | undefined;
  /** By name. */
  readonly tools: ReadonlyMap<string, Pin>;
  readonly prompts: ReadonlyMap<string, Pin>;
  /** By URI template. */
  readonly resourceTemplates: ReadonlyMap<string, Pin>;
  readonly package?: PinnedPackage | undefined;
}

export type PinnedKind = "tools" | "prompts" | "resourceTemplates";

export const pinnedKinds: readonly PinnedKind[] = ["tools", "prompts", "resourceTemplates"];

/** The package behind `npx` or `uvx`. What could not be determined is `unknown`, and `note` says why. */
export interface PinnedPackage {
  manager: "npm" | "pypi";
  name: string;
  version: string;
  integrity: string;
  note?: string;
}

/** One definition that a person approved, exactly as the server sent it. */
export class Pin {
  /** The hash in the lock file. */
  readonly hash: string;
  readonly definition: unknown;
  #isSound: boolean | undefined;

  constructor(hash: string, definition: unknown) {
    this.hash = hash;
    this.definition = definition;
  }

  /** False if hash and definition belong to different things: people see the one, and the other would be let through. */
  get isSound(): boolean {
    return (this.#isSound ??= definitionHash(this.definition) === this.hash);
  }
}

export type PinVerdict = "same" | "changed" | "new" | "damaged";

/** Compares what a server sends now with what was approved. */
export function comparePin(pin: Pin | undefined, definition: unknown): PinVerdict {
  if (!pin) return "new";
  if (!pin.isSound) return "damaged";
  return definitionHash(definition) === pin.hash ? "same" : "changed";
}

/** Covers everything that was sent, raw: no field is left out, and no text is normalized. */
export function definitionHash(definition: unknown): string {
  return `sha256-${sha256(canonicalJson(definition))}`;
}

/** One hash for all that is pinned of a server. */
export function surfaceHash(pins: Omit<ServerPins, "file" | "stamp" | "broken" | "isFileBroken">): string {
  const hashes = (all: ReadonlyMap<string, Pin>) =>
    [...all].map(([name, { hash }]) => [name, hash] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return definitionHash({
    instructions: pins.instructions?.hash,
    tools: hashes(pins.tools),
    prompts: hashes(pins.prompts),
    resourceTemplates: hashes(pins.resourceTemplates),
    package: pins.package,
  });
}

/** The key of an entry in its list. */
export function pinnedName(kind: PinnedKind, entry: Readonly<Record<string, unknown>>): string {
  return String(entry[kind === "resourceTemplates" ? "uriTemplate" : "name"]);
}
