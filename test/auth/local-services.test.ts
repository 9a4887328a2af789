import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, expect, it, onTestFinished } from "vitest";
import { discover } from "../../src/auth/oauth/discovery.ts";
import { guardFetch } from "../../src/auth/oauth/guarded-fetch.ts";
import { allowsLocal } from "../../src/lib/safe-url.ts";
import { browser, hubAt, openScene, refusal } from "./oauth-fixture.ts";

const elsewhere = "https://mcp.example/mcp";
const refused = "is on this machine, but the server is not";

/** What is there, by address; everything else is not found. */
function world(own: string, documents: Record<string, object>, issuer?: string) {
  const asked: string[] = [];
  const url = new URL(own);
  const bounds = { own: url, localAllowed: allowsLocal(url, issuer) };
  const fetch = guardFetch("issues", bounds, async (input, init) => {
    asked.push(`${init?.method ?? "GET"} ${String(input)}`);
    const document = documents[String(input)];
    return document ? Response.json(document) : new Response(null, { status: 404 });
  });
  return { asked, fetch, settings: { server: "issues", url, issuer, fetch } };
}

function authorizationServer(issuer: string, more: object = {}) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    ...more,
  };
}

const local = [
  "http://127.0.0.1:9",
  "https://127.0.0.1:9",
  "http://127.1.2.3",
  "http://localhost:9",
  "https://api.localhost",
  "http://localhost.:9",
  "http://[::1]:9",
  "https://[::ffff:127.0.0.1]",
  "http://0.0.0.0:9",
  "http://[::]:9",
];

describe("a remote server and services on this machine", () => {
  it.each(local)("cannot have its metadata read from %s", async (origin) => {
    const { asked, settings } = world(elsewhere, {});
    const challenge = { resourceMetadataUrl: new URL(`${origin}/admin/restart?now=1`) };
    const error = await refusal(discover(settings, challenge));
    expect(error).toMatchObject({ code: "auth-failed", data: { reason: "unsafe-address" } });
    expect(error.message).toContain(refused);
    expect(asked).toEqual([]);
  });

  it.each(local)("cannot name %s as its authorization server", async (issuer) => {
    const place = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
    const { asked, settings } = world(elsewhere, {
      [place]: { resource: elsewhere, authorization_servers: [issuer] },
    });
    const error = await refusal(discover(settings, {}));
    expect(error.message).toContain(`${issuer} (authorization_servers), which ${refused}`);
    expect(error.hint).toContain("`oauth.issuer`");
    expect(asked).toEqual([`GET ${place}`]);
  });

  it.each([
    "authorization_endpoint",
    "token_endpoint",
    "registration_endpoint",
    "revocation_endpoint",
    "device_authorization_endpoint",
  ])("cannot have a %s there", async (field) => {
    const issuer = "https://login.example";
    const { settings } = world(elsewhere, {
      "https://mcp.example/.well-known/oauth-protected-resource/mcp": {
        resource: elsewhere,
        authorization_servers: [issuer],
      },
      [`${issuer}/.well-known/oauth-authorization-server`]: authorizationServer(issuer, {
        [field]: "http://127.0.0.1:9/api/delete-all",
      }),
    });
    const error = await refusal(discover(settings, {}));
    expect(error).toMatchObject({ data: { reason: "unsafe-address", endpoint: field } });
    expect(error.message).toContain(refused);
  });

  it("come together where the configuration pins the issuer here", async () => {
    const issuer = "http://127.0.0.1:9";
    const documents = {
      "https://mcp.example/.well-known/oauth-protected-resource/mcp": {
        resource: elsewhere,
        authorization_servers: [issuer],
      },
      [`${issuer}/.well-known/oauth-authorization-server`]: authorizationServer(issuer),
    };
    expect(await discover(world(elsewhere, documents, issuer).settings, {})).toMatchObject({ issuer });
  });

  it("come together where the server is here as well", async () => {
    const { asked, fetch } = world("http://localhost:8/mcp", {});
    await fetch("http://127.0.0.1:9/x", { method: "POST" });
    expect(asked).toEqual(["POST http://127.0.0.1:9/x"]);
  });

  const outside = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

  it.skipIf(outside === undefined)(
    "are kept apart by a hub, at the first refusal and in a login",
    async () => {
      const hits: string[] = [];
      const service = await listen("127.0.0.1", ({ method, url }, response) => {
        hits.push(`${method} ${url}`);
        response.writeHead(404).end();
      });
      const hostile = await listen(outside ?? "", (_request, response) => {
        const challenge = `Bearer resource_metadata="${service}/admin/restart?now=1"`;
        response.writeHead(401, { "www-authenticate": challenge }).end();
      });
      const hub = await hubAt(`${hostile}/mcp`);
      expect((await refusal(hub.connect("issues"))).code).toBe("auth-required");
      const error = await refusal(hub.login("issues", browser()));
      expect(error.message).toContain(`${service}, which ${refused}; nothing was sent.`);
      expect(hits).toEqual([]);
    },
  );
});

describe("a document that comes as an event stream", () => {
  it("is refused before it is read, because its length is unknown", async () => {
    const { promise: left, resolve } = Promise.withResolvers<void>();
    const origin = await listen("127.0.0.1", ({ url }, response) => {
      if (!url?.includes("well-known")) return void response.writeHead(401).end();
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.on("close", resolve);
      // Never at its end.
      const more = () => void response.write(`data: ${"x".repeat(900)}\n\n`.repeat(1000));
      response.on("drain", more);
      more();
    });
    const hub = await hubAt(`${origin}/mcp`);
    const error = await refusal(hub.login("issues", browser()));
    expect(error).toMatchObject({ code: "auth-failed", data: { reason: "event-stream" } });
    expect(error.message).toContain("with an event stream");
    await left;
  });

  it("does not prevent a login if the server answers an unauthorized request with one", async () => {
    const scene = await openScene();
    scene.server.set({
      faults: { mcp: { times: 1, answer: { headers: { "content-type": "text/event-stream" } } } },
    });
    const hub = await scene.hub();
    expect(await hub.login("issues", browser())).toMatchObject({ user: "ada" });
  });
});

async function listen(host: string, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, host);
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}
