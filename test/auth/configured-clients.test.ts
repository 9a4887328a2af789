import { describe, expect, it } from "vitest";
import { createHub } from "../../src/index.ts";
import type { Held } from "../../src/host.ts";
import { createVault } from "../../src/auth/vault/vault.ts";
import { createSandbox } from "../sandbox.ts";
import { browser, openScene } from "./oauth-fixture.ts";

const clients = ["one", "two"].map((client_id) => ({
  client_id,
  redirect_uris: ["http://127.0.0.1/callback"],
  token_endpoint_auth_method: "none" as const,
}));

describe("entries with the same address and different clients", () => {
  it("have a login each: none is used, replaced or ended by another's", async () => {
    const { auth, server, credentials } = await openScene({ clients });
    const { url } = server;
    const servers = {
      own: { url },
      one: { url, oauth: { clientId: "one" } },
      two: { url, oauth: { clientId: "two" } },
    };
    await using hub = await createHub({ servers }, { env: {}, credentials });
    const clientOf = async (name: keyof typeof servers) => {
      await hub.callTool(`mcp__${name}__add`, { a: 1, b: 2 });
      const token = server.received.at(-1)?.headers["authorization"]?.toString().split(" ")[1] ?? "";
      return auth.introspect(token)["client_id"];
    };
    await hub.login("one", browser());
    expect(await clientOf("one")).toBe("one");
    for (const name of ["own", "two"] as const)
      await expect(clientOf(name)).rejects.toMatchObject({ code: "auth-required" });

    await hub.login("two", browser());
    await hub.login("own", browser());
    auth.expireAccessTokens();
    expect([await clientOf("one"), await clientOf("two")]).toEqual(["one", "two"]);
    const registered = await clientOf("own");
    expect(["one", "two"]).not.toContain(registered);

    await hub.logout("two");
    expect(await hub.account("two")).toBeUndefined();
    expect([await clientOf("one"), await clientOf("own")]).toEqual(["one", registered]);
    await hub.login("own", browser());
    expect(await clientOf("own")).toBe(registered);
  });
});

describe("a configured client whose first issuer cannot be read now", () => {
  it("is used only with the configured issuer", async () => {
    const { auth, hub: open } = await openScene({ clients });
    const box = createSandbox();
    const sealed = { PLUGBOARD_VAULT_PASSPHRASE: "canary passphrase" };
    const first = await open({ oauth: { clientId: "one" } }, credentialsIn(box.path("home/vault"), sealed));
    await first.login("issues", browser());
    const away = credentialsIn(box.path("home/vault"), {});
    const unsure = await open({ oauth: { clientId: "one" } }, away);
    await expect(unsure.login("issues", browser())).rejects.toMatchObject({
      code: "store-unavailable",
      hint: expect.stringContaining("`oauth.issuer`") as string,
    });
    const sure = await open({ oauth: { clientId: "one", issuer: auth.issuer } }, away);
    expect(await sure.login("issues", browser())).toMatchObject({ issuer: auth.issuer });
  });
});

function credentialsIn(folder: string, env: Record<string, string>) {
  const lock = <T>(_name: string, work: (held: Held) => Promise<T>) =>
    work({ signal: new AbortController().signal });
  const vault = createVault({ folder, env, keychain: undefined, lock });
  return { credentials: { vault: async () => vault, lock } };
}
