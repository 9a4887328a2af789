import { describe, expect, it } from "vitest";
import { browser, openScene, refusal } from "./oauth-fixture.ts";

/** The status and title of a page. */
async function visit(address: string | URL): Promise<[number, string | undefined]> {
  const response = await fetch(address);
  return [response.status, /<title>(.*)<\/title>/.exec(await response.text())?.[1]];
}

describe("the callback server of a login", () => {
  it("keeps waiting for the right response after other requests", async () => {
    const scene = await openScene();
    const hub = await scene.hub();
    const seen: unknown[] = [];
    const left = Promise.withResolvers<void>();
    const account = await hub.login("issues", {
      openUrl: async (url) => {
        const door = url.searchParams.get("redirect_uri") ?? "";
        const state = url.searchParams.get("state") ?? "";
        const strangers = [
          "",
          "?code=x",
          "?state=&code=x",
          "?state=wrong&code=x",
          `?state=${state.slice(1)}&code=x`,
          `?state=${state}x&error=access_denied`,
          "?error=access_denied&error_description=%3Cscript%3E",
        ];
        for (const query of strangers) seen.push(await visit(`${door}${query}`));
        seen.push((await visit(new URL("/elsewhere", door)))[0]);
        seen.push(await visit(url));
        left.resolve();
      },
    });
    expect(account).toMatchObject({ user: "ada" });
    const turnedAway = [400, "Unexpected login response"];
    await left.promise;
    const expected = [...Array.from({ length: 7 }, () => turnedAway), 404, [200, "Logged in to issues"]];
    expect(seen).toEqual(expected);
    expect(scene.auth.stats.tokens).toBe(1);
  });

  it.each([
    { what: "a second state", more: "&state=forged", says: "contains state more than once" },
    { what: "a second code", more: "&code=x&code=y", says: "contains code more than once" },
    { what: "somebody else's name", more: "&code=x&iss=https://other.example", says: "is not from" },
    { what: "no code", more: "&iss=ISSUER", says: "has no code" },
  ])("is closed by the right state with $what", async ({ more, says }) => {
    const scene = await openScene();
    const hub = await scene.hub();
    const openUrl = async (url: URL) => {
      const state = url.searchParams.get("state") ?? "";
      const query = `?state=${state}${more.replace("ISSUER", scene.auth.issuer)}`;
      await visit(`${url.searchParams.get("redirect_uri")}${query}`);
    };
    expect((await refusal(hub.login("issues", { openUrl }))).message).toContain(says);
    expect(scene.auth.stats.tokens).toBe(0);
    expect(await hub.login("issues", browser())).toMatchObject({ user: "ada" });
  });
});
