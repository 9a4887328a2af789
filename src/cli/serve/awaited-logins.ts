import type { Hub } from "../../index.ts";

const everyMs = 2_000;

/**
 * Connects a server that waits for a login as soon as there is one: `plugboard login` runs in another process. Looks
 * for stored logins only while a server waits, and asks nobody.
 */
export function awaitLogins(hub: Hub): Disposable {
  /** The login that each server was last tried with, so that one that is refused is not tried again and again. */
  const tried = new Map<string, string>();
  let isLooking = false;
  const look = async () => {
    for (const { name } of hub.status().filter(({ state }) => state === "needs-auth")) {
      const account = await hub.account(name);
      const login = JSON.stringify(account);
      if (!account || account.ended || tried.get(name) === login) continue;
      tried.set(name, login);
      await hub.disconnect(name);
      // What fails is in the server's state, where everybody sees it.
      hub.connect(name).catch(() => undefined);
    }
  };
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    // A vault that cannot be read now may be readable the next time.
    void look()
      .catch(() => undefined)
      .finally(() => (isLooking = false));
  }, everyMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
