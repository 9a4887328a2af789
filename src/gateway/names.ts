import { toolId } from "../host.ts";
import type { Naming, PromptCommand } from "../host.ts";
import type { ToolEntry } from "../index.ts";
import type { GatewayNames } from "./options.ts";

/** Names of at most 50 characters survive in every known client; two are left for its own prefix. */
const defaultLength = 48;

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
    return this.#beginnings(server).some((beginning) => name.startsWith(beginning));
  }

  /** How the names of a server's tools begin: with its name, or where they are too long or not plain, with what is left of it. */
  #beginnings(server: string): string[] {
    const { maxLength } = this.#naming;
    const plain = toolId(server, "x", this.#naming);
    const hashed = toolId(server, "x".repeat(maxLength), this.#naming);
    const beforeHash = hashed.slice(0, hashed.lastIndexOf("__"));
    const cut = beforeHash.slice(0, beforeHash.lastIndexOf("__") + 2);
    return plain.endsWith("__x") ? [plain.slice(0, -1), cut] : [cut];
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
