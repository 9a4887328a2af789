import { checkKey, encodeMessage } from "../entry.ts";
import { Subscribers } from "../subscribers.ts";
import type { Messages } from "../store.ts";

/** Messages within one process. */
export function createMemoryMessages(assertOpen: () => void): Messages & { clear(): void } {
  const subscribers = new Subscribers();
  return {
    async publish(channel, message) {
      assertOpen();
      checkKey(channel);
      subscribers.due(channel, encodeMessage(channel, message));
      queueMicrotask(() => subscribers.tell());
    },
    async subscribe(channel, listener) {
      assertOpen();
      checkKey(channel);
      return subscribers.add(channel, listener);
    },
    clear: () => subscribers.clear(),
  };
}
