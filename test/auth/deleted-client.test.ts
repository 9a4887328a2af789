import { describe, expect, it, onTestFinished } from "vitest";
import { Workspace } from "../../src/config.ts";
import { createSandbox } from "../sandbox.ts";
import { add, browser, hubAt, openScene, refusal } from "./oauth-fixture.ts";
import type { Scene } from "./oauth-fixture.ts";

function deleteClients({ auth }: Scene): void {
  for (const id of auth.clients.keys()) auth.clients.delete(id);
}

describe("a client that the authorization server has deleted", () => {
  it("is registered again by the next login, after a renewal was refused because of it", async () => {
    const scene = await openScene();
    const hub = await scene.hub();
    await hub.login("issues", browser());
    await add(hub);
    deleteClients(scene);
    scene.auth.expireAccessTokens();
    expect(await refusal(add(hub))).toMatchObject({
      code: "auth-failed",
      data: { error: "invalid_client" },
      hint: expect.stringContaining("registers a new client") as string,
    });
    expect(await hub.login("issues", browser())).toMatchObject({ user: "ada" });
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(scene.auth.stats.registrations).toBe(2);
  });

  it("is deleted by a logout even if there is no login", async () => {
    const scene = await openScene({ autoConsent: "deny" });
    const workspace = await Workspace.open(createSandbox().options);
    onTestFinished(() => workspace.close());
    const { credentials } = workspace;
    const hub = await hubAt(scene.server.url, {}, { credentials });
    for (const profile of ["default", "work"]) await refusal(hub.login("issues", { ...browser(), profile }));
    deleteClients(scene);
    expect(await hub.logout("issues")).toEqual({ wasLoggedIn: false, revoked: false });
    scene.auth.set({ autoConsent: true });
    expect(await hub.login("issues", browser())).toMatchObject({ user: "ada" });
    expect(scene.auth.stats.registrations).toBe(3);
    const kept = await (await workspace.vault()).list("client/");
    expect(kept.entries.map(({ name }) => name.split("|").at(-1))).toEqual(["default", "work"]);
  });
});
