import { hashText } from "./hashes.ts";
import type { ScopeView } from "./scope-view.ts";
import type { ListKind } from "./known-list.ts";
import type { ServerLists } from "./server-lists.ts";

/** `resources` includes resource templates. */
export type DigestKind = "tools" | "resources" | "prompts";

const listed: Record<DigestKind, readonly ListKind[]> = {
  tools: ["tools"],
  resources: ["resources", "resourceTemplates"],
  prompts: ["prompts"],
};

/**
 * One hash over the known and visible lists of some servers. Each list has a hash from when it was read, so this is
 * cheap if nothing changed. An empty list counts the same as no list.
 */
export async function digestOf(
  view: ScopeView,
  servers: readonly { server: string; lists: ServerLists }[],
  kind?: DigestKind,
): Promise<string> {
  const kinds = kind === undefined ? Object.values(listed).flat() : listed[kind];
  const parts = await Promise.all(
    servers.flatMap(({ server, lists }) =>
      kinds.map(async (one) => {
        const hash = await hashOf(one, lists, view);
        // Approving a prompt shows it, and the list itself stays the same.
        const pinned = one === "tools" ? "" : (view.config.pins?.get(server)?.stamp ?? "");
        return hash === "" ? [] : [`${server} ${one} ${hash}${pinned}`];
      }),
    ),
  );
  return hashText(parts.flat().join("\n"));
}

async function hashOf(kind: ListKind, lists: ServerLists, view: ScopeView): Promise<string> {
  const list = await lists.peek(kind);
  if (!list || list.entries.length === 0) return "";
  return kind === "tools" ? view.sumUp(await lists.index(list)).digest : list.hash;
}
