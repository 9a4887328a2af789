import { checkKey, encodeValues, maxRead } from "../entry.ts";
import { packText } from "../packed-text.ts";
import type { PackedText } from "../packed-text.ts";
import type { Log } from "../store.ts";
import { parseExact } from "../../lib/exact-json.ts";

interface Written {
  /** The number of the first of `texts`. */
  first: number;
  texts: (string | PackedText)[];
}

/** Logs within one process. */
export function createMemoryLog(assertOpen: () => void): Log & { clear(): void } {
  const logs = new Map<string, Written>();
  const find = (name: string): Written => {
    assertOpen();
    checkKey(name);
    return logs.get(name) ?? { first: 1, texts: [] };
  };

  return {
    async append(name, values) {
      const log = find(name);
      const texts = encodeValues(name, values);
      for (const text of texts) log.texts.push(packText(text));
      if (texts.length > 0) logs.set(name, log);
      return log.first + log.texts.length - 1;
    },
    async read(name, { after = 0, limit = maxRead } = {}) {
      const { first, texts } = find(name);
      const from = Math.max(0, after + 1 - first);
      const some = texts.slice(from, from + Math.max(0, Math.min(limit, maxRead)));
      return some.map((text, index) => ({
        number: first + from + index,
        value: parseExact(text.toString()),
      }));
    },
    async trim(name, through) {
      const log = find(name);
      const count = Math.max(0, Math.min(log.texts.length, Math.floor(through) + 1 - log.first));
      log.texts.splice(0, count);
      log.first += count;
      return count;
    },
    async extent(name) {
      const { first, texts } = find(name);
      const last = first + texts.length - 1;
      return { first: last === 0 ? 0 : first, last };
    },
    clear: () => logs.clear(),
  };
}
