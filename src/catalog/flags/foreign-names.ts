import { toolId } from "../names.ts";
import type { Definition, DefinitionFlag } from "./definition.ts";
import { textsIn } from "./texts.ts";

const mostFlags = 20;
const longestName = 500;

/** Texts of one server that name a tool of another: a description must not say how others are to be used. */
export function foreignNames(
  definitions: readonly Definition[],
  wanted: readonly Definition[],
): Map<Definition, DefinitionFlag[]> {
  const owners = toolOwners(definitions);
  const flags = new Map<Definition, DefinitionFlag[]>();
  for (const definition of owners.size === 0 ? [] : wanted) {
    const found = flagsOf(definition, owners);
    if (found.length > 0) flags.set(definition, found);
  }
  return flags;
}

interface Owner {
  tool: string;
  servers: Set<string>;
}

/** Each word that means a tool, and the servers that have it. */
function toolOwners(definitions: readonly Definition[]): Map<string, Owner> {
  const owners = new Map<string, Owner>();
  const add = (word: string, { server, name }: Definition) => {
    const owner = owners.get(word) ?? { tool: name, servers: new Set() };
    owner.servers.add(server);
    owners.set(word, owner);
  };
  for (const definition of definitions) {
    if (definition.kind !== "tool") continue;
    const { server, name } = definition;
    for (const word of [toolId(server, name), `${server}.${name}`, `${server}/${name}`, `${server}__${name}`])
      add(word, definition);
    if (isDistinctive(name)) add(name, definition);
  }
  return owners;
}

/** Names such as `search` are words that any description may use. */
function isDistinctive(name: string): boolean {
  return name.length >= 6 && (/[a-z0-9][_.-][a-z0-9]/i.test(name) || /[a-z][A-Z]/.test(name));
}

function flagsOf({ server, kind, name, sent }: Definition, owners: Map<string, Owner>): DefinitionFlag[] {
  const flags: DefinitionFlag[] = [];
  const said = new Set<string>();
  for (const { path, text, isKey } of textsIn(sent)) {
    if (isKey || path === "name" || path === "uriTemplate") continue;
    for (const [word] of text.matchAll(/[\p{L}\p{N}_][\p{L}\p{N}_./-]*/gu)) {
      // Longer than any name, and made to be slow to look at.
      if (word.length > longestName) continue;
      const owner = owners.get(word) ?? owners.get(word.replace(/[./-]+$/, ""));
      if (!owner || owner.servers.has(server) || said.has(owner.tool)) continue;
      said.add(owner.tool);
      const [other = ""] = owner.servers;
      const message = `it names the tool ${JSON.stringify(owner.tool)} of "${other}"`;
      flags.push({ server, kind, name, flag: "names-foreign-tool", path, message });
      if (flags.length === mostFlags) return flags;
    }
  }
  return flags;
}
