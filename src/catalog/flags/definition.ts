/** One thing that a server offers, as it was sent. */
export interface Definition {
  server: string;
  kind: "tool" | "prompt" | "resource template" | "instructions";
  /** The server's own name for it; the URI of a template. */
  name: string;
  sent: unknown;
}

/** Something suspicious in a definition. Advice for a person: poisoned text without any of this exists too. */
export interface DefinitionFlag extends Pick<Definition, "server" | "kind" | "name"> {
  flag: "hidden-characters" | "look-alike-name" | "names-foreign-tool";
  /** Where it is in the definition. */
  path: string;
  message: string;
}
