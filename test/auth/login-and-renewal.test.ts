import { expect, it, vi } from "vitest";
import type { Credentials } from "../../src/auth/credentials.ts";
import type { LoginOptions } from "../../src/index.ts";
import { add, browser, openScene, tokenRequests } from "./oauth-fixture.ts";

function browserOf(name: string): LoginOptions {
  return {
    openUrl: (url) => {
      url.searchParams.set("login_hint", name);
      return browser().openUrl?.(url);
    },
  };
}

/** The same credentials, which write down logins only when they may. */
function slowly(credentials: Credentials, mayWrite: () => Promise<void>): Credentials {
  return {
    lock: (name, work) => credentials.lock(name, work),
    vault: async () => {
      const vault = await credentials.vault();
      const set: typeof vault.set = async (name, value) => {
        if (name.startsWith("tokens/")) await mayWrite();
        return vault.set(name, value);
      };
      return { get: vault.get, set, delete: vault.delete };
    },
  };
}

it("A login is not overwritten by a renewal in progress", async () => {
  let now = Date.now();
  const clock = () => now;
  const scene = await openScene({ accessTokenMs: 100_000, clock, users: ["ada", "bob"] });
  const writing = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let isRenewal = false;
  const credentials = slowly(scene.credentials, async () => {
    if (!isRenewal) return;
    writing.resolve();
    await gate.promise;
  });
  const program = await scene.hub({}, { clock, credentials });
  await program.login("issues", browserOf("ada"));
  await add(program);
  now += 95_000;
  isRenewal = true;
  const call = add(program);
  await writing.promise;
  const person = await scene.hub({}, { clock });
  const login = person.login("issues", browserOf("bob"));
  await vi.waitFor(() => expect(tokenRequests(scene.auth)).toHaveLength(3), 10_000);
  gate.resolve();
  expect(await call).toEqual({ sum: 3 });
  expect(await login).toMatchObject({ user: "bob" });
  expect(await person.account("issues")).toMatchObject({ user: "bob" });
});
