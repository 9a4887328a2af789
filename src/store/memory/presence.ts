import { checkKey, encodeValue } from "../entry.ts";
import type { Presence } from "../store.ts";
import { parseExact } from "../../lib/exact-json.ts";

/** Who is there within one process: everybody who has announced it, until they leave. */
export function createMemoryPresence(assertOpen: () => void): Presence & { clear(): void } {
  const groups = new Map<string, Map<string, string>>();
  return {
    async announce(group, value) {
      assertOpen();
      checkKey(group);
      const id = process.getBuiltinModule("node:crypto").randomUUID();
      const members = groups.get(group) ?? new Map<string, string>();
      groups.set(group, members.set(id, encodeValue(group, value)));
      const leave = async () => {
        members.delete(id);
        if (members.size === 0 && groups.get(group) === members) groups.delete(group);
      };
      return { id, leave };
    },
    async members(group) {
      assertOpen();
      const members = [...(groups.get(group) ?? [])].sort(([one], [other]) => (one < other ? -1 : 1));
      return members.map(([id, text]) => ({ id, value: parseExact(text) }));
    },
    async isPresent(group, id) {
      assertOpen();
      return groups.get(group)?.has(id) === true;
    },
    clear: () => groups.clear(),
  };
}
