import { describe, expect, it } from "vitest";
import { newDpopKey } from "../../src/auth/oauth/dpop-key.ts";
import { DpopProofs } from "../../src/auth/oauth/dpop-proof.ts";
import { fakeHttp, open } from "../servers/http-fixture.ts";
import { until } from "../servers/rpc-fixture.ts";
import { browser, openScene, refusal, requestsOf } from "./oauth-fixture.ts";

type Headers = Record<string, string | string[] | undefined>;

function credentialsIn({ authorization, dpop }: Headers): [string | undefined, boolean] {
  return [String(authorization).split(" ")[0], dpop !== undefined];
}

const proved = ["DPoP", true];

/** What a login is to its transport, as if it were replaced by one that is bound to a key. */
function changingLogin() {
  const proofs = new DpopProofs(newDpopKey());
  const token = "the-token";
  const login = {
    isBound: false,
    headers: async ({ method, url }: { method: string; url: URL }): Promise<Record<string, string>> =>
      login.isBound
        ? { authorization: `DPoP ${token}`, dpop: proofs.make(method, url, token) }
        : { authorization: `Bearer ${token}` },
  };
  return login;
}

describe("with a token that is bound to a key", () => {
  it("the server is told with a proof that a call is cancelled", async () => {
    const on = [{ when: { tool: "echo" }, do: [{ silent: true as const }] }];
    const scene = await openScene({ dpop: "nonce" }, { dpop: "nonce" }, { versions: "legacy", on });
    const hub = await scene.hub();
    await hub.login("issues", browser());
    const stop = new AbortController();
    const call = refusal(hub.callTool("mcp__issues__echo", { text: "x" }, { signal: stop.signal }));
    await until(() => requestsOf(scene.server, "tools/call").length > 0);
    stop.abort();
    expect((await call).code).toBe("call-cancelled");
    await until(() => requestsOf(scene.server, "notifications/cancelled").length > 0);
    await hub.close();
    const sent = requestsOf(scene.server, "notifications/cancelled");
    expect(sent.map(({ headers }) => credentialsIn(headers))).toEqual(sent.map(() => proved));
    expect(scene.server.errors).toEqual([]);
  });

  it("a call that began with another goes on with a proof where its stream breaks", async () => {
    const on = [
      {
        when: { tool: "echo" },
        do: [{ progress: 1 }, { drop: "reset" as const }, { default: true as const }],
      },
    ];
    const fake = await fakeHttp({ versions: "legacy", responses: "sse", resumable: true, retryMs: 20, on });
    const auth = changingLogin();
    const { call } = await open(fake.url, "legacy", { auth });
    const onProgress = () => (auth.isBound = true);
    expect(await call("echo", { x: 1 }, { onProgress })).toMatchObject({
      result: { structuredContent: { x: 1 } },
    });
    const sent = (method: string) =>
      fake.received.filter(({ message, headers }) =>
        method === "GET" ? headers["last-event-id"] !== undefined : message?.["method"] === method,
      );
    expect(sent("tools/call").map(({ headers }) => credentialsIn(headers))).toEqual([["Bearer", false]]);
    expect(sent("GET").length).toBeGreaterThan(0);
    expect(sent("GET").map(({ headers }) => credentialsIn(headers))).toEqual(sent("GET").map(() => proved));
  });

  it("a call is given up where its stream cannot be continued so either", async () => {
    const stream = "id: 1\nretry: 10\ndata:\n\n";
    const on = [
      {
        when: { tool: "echo" },
        do: [{ http: { headers: { "content-type": "text/event-stream" }, body: stream } }],
      },
      { when: { http: "GET" as const, from: 2 }, do: [{ http: { status: 404 } }] },
    ];
    const fake = await fakeHttp({ versions: "legacy", on });
    const auth = changingLogin();
    const { call } = await open(fake.url, "legacy", { auth });
    const pending = refusal(call("echo"));
    auth.isBound = true;
    expect(await pending).toMatchObject({ code: "connection-lost", data: { sent: true } });
    const resumed = fake.received.filter(({ headers }) => headers["last-event-id"] === "1");
    expect(resumed.map(({ headers }) => credentialsIn(headers))).toEqual([proved]);
  });
});
