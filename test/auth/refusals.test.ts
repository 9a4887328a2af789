import { describe, expect, it } from "vitest";
import { explainTime, explainToken } from "../../src/auth/oauth/token-claims.ts";
import { add, browser, hubAt, openScene, refusal } from "./oauth-fixture.ts";

const url = new URL("https://issues.example/mcp");
const now = Date.parse("2026-07-28T12:00:00Z");
const minute = 60;

function token(claims: Record<string, unknown>): string {
  return `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;
}

describe("why a token may have been refused", () => {
  it.each([
    [{ aud: "https://issues.example" }, undefined],
    [{ aud: ["https://other.example", "https://issues.example/mcp"] }, undefined],
    [
      { aud: "https://other.example/" },
      "The token is for https://other.example/ (aud), not for https://issues.example.",
    ],
    [{ aud: "client-7" }, undefined],
    [{ aud: ["client-7", "https://other.example"] }, undefined],
    [{ exp: now / 1000 - 1 }, "The token expired at 2026-07-28T11:59:59.000Z."],
    [{ exp: now / 1000 + minute }, undefined],
    [{ iat: now / 1000 + 30 }, undefined],
    [
      { iat: now / 1000 + 5 * minute },
      "The token is not valid before 2026-07-28T12:05:00.000Z: the clock of this machine or of the server may be wrong.",
    ],
    [{ nbf: 1e30 }, expect.stringContaining("the far future")],
    [{ exp: "soon", aud: { a: 1 } }, undefined],
  ])("%j", (claims, explanation) => {
    expect(explainToken(token(claims), url, now)).toEqual(explanation);
  });

  it.each(["", "opaque", "a.b.c", "e30.bnVsbA.x"])("says nothing about %j", (opaque) => {
    expect(explainToken(opaque, url, now)).toBeUndefined();
  });

  it("compares the clocks", () => {
    expect(explainTime(undefined, now)).toBeUndefined();
    expect(explainTime("Tue, 28 Jul 2026 12:01:00 GMT", now)).toBeUndefined();
    expect(explainTime("Tue, 28 Jul 2026 12:30:00 GMT", now)).toMatch(/30 minutes ahead of ours/);
    expect(explainTime("Tue, 28 Jul 2026 11:30:00 GMT", now)).toMatch(/30 minutes behind ours/);
  });
});

describe("a server that refuses", () => {
  it("is told apart by a configured token that is for somebody else", async () => {
    const { server } = await openScene();
    const mine = token({ aud: "https://other.example/" });
    const hub = await hubAt(server.url, { headers: { Authorization: `Bearer ${mine}` } });
    const error = await refusal(hub.connect("issues"));
    expect(error).toMatchObject({ code: "auth-failed" });
    expect(error.hint).toContain("The token is for https://other.example/ (aud)");
    expect(JSON.stringify(error) + error.message).not.toContain(mine);
  });

  it("says at once that a client has to be registered by hand, and where", async () => {
    const { auth, hub } = await openScene({ registration: false });
    const mine = await hub();
    const error = await refusal(mine.connect("issues"));
    expect(error).toMatchObject({ code: "registration-required", data: { issuer: auth.issuer } });
    expect(error.hint).toContain("plugboard add issues <url> --client-id <id> --force");
    expect(mine.status()).toMatchObject([{ state: "needs-registration" }]);
  });
});

describe("a login that fails", () => {
  it("does not repeat a key in the server's URL", async () => {
    const { server } = await openScene({}, { resource: "https://elsewhere.example/mcp" });
    const key = "k3yInThePath0987654321";
    const hub = await hubAt(`${server.url}/${key}`);
    const error = await refusal(hub.login("issues", browser()));
    expect(error.message).toContain("https://elsewhere.example/mcp");
    expect(JSON.stringify(error) + error.message).not.toContain(key);
  });

  const secret = "p@ss w/rd+9";
  const form = new URLSearchParams({ secret }).toString();
  it.each([secret, encodeURIComponent(secret), form, form.toLowerCase()])(
    "does not repeat a client secret, whether it is encoded or not: %s",
    async (repeated) => {
      const body = { error: "invalid_client", error_description: `wrong: ${repeated}` };
      const scene = await openScene({ faults: { token: { answer: { status: 400, body } } } });
      const oauth = { grant: "client-credentials", clientId: "robot", clientSecret: secret };
      const hub = await scene.hub({ oauth });
      for (const error of [await refusal(hub.login("issues")), await refusal(add(hub))]) {
        expect(error.message).toContain("(hidden)");
        expect(error.message).not.toMatch(/rd(\+|%2b)9/i);
      }
    },
  );
});
