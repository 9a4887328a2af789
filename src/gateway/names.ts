import { toolId } from "../index.ts";
import type { Naming, PromptCommand, ToolEntry } from "../index.ts";
import type { GatewayNames } from "./options.ts";

/** Names of at most 50 characters survive in every known client; two are left for its own prefix. */
const defaultLength = 48;
/** How much of a name is the same for all tools of a server, however long their names are. */
const sharedLength = 4;

/** What clients see as the names of tools and prompts. */
export class Names {
  readonly #naming: Naming;
  readonly #mayBePlain: boolean;
  readonly #isAlone: () => boolean;

  /** `isAlone` tells whether all of them belong to one server: only then names can be plain. */
  constructor({ style = "server", maxLength = defaultLength }: GatewayNames, isAlone: () => boolean) {
    this.#mayBePlain = style === "plain";
    this.#naming = { style: style === "plain" ? "server" : style, maxLength };
    this.#isAlone = isAlone;
  }

  /** True if names do not say which server they belong to. */
  get isPlain(): boolean {
    return this.#mayBePlain && this.#isAlone();
  }

  /** False if this name certainly is none of a server's. */
  mayBelong(name: string, server: string): boolean {
    if (this.isPlain) return true;
    const own = toolId(server, "x", this.#naming);
    // A name that had to be shortened keeps at least the beginning of its server's.
    return name.slice(0, sharedLength) === own.slice(0, sharedLength).slice(0, name.length);
  }

  ofTool({ server, name, renamedTo = name }: ToolEntry): string {
    return this.#of(server, renamedTo);
  }

  ofPrompt({ server, name }: Pick<PromptCommand, "server" | "name">): string {
    return this.#of(server, name);
  }

  #of(server: string, name: string): string {
    return this.isPlain ? name : toolId(server, name, this.#naming);
  }
}
