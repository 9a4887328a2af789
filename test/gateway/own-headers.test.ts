import { request } from "node:http";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createGateway } from "../../src/gateway/index.ts";
import type { Hub } from "../../src/index.ts";
import { openFake, openHub } from "../servers/hub-fixture.ts";
import { HttpWire } from "./clients/http-wire.ts";
import { openClient } from "./clients/open-client.ts";
import type { Era } from "./clients/client.ts";

type Fake = Awaited<ReturnType<typeof openFake>>;

async function openGateway(hub: Hub) {
  // Everybody shares the token, as behind one web application, unless the test says who it is.
  const gateway = createGateway(hub, { authenticate: ({ headers }) => headers.get("x-caller") ?? "app" });
  const { url } = await gateway.listen();
  return {
    /** `headers` is read with each request, so a test can change it. */
    client: (era: Era, headers: Record<string, string>) => openClient(era, new HttpWire({ url, headers })),
    [Symbol.asyncDispose]: () => gateway.close({ drainMs: 0 }),
  };
}

const mapping = { gateway: { headers: { it: { "X-Token": "Authorization" } } } };

/** What every session was sent as `Authorization`, and with which methods. */
function shown(fake: Fake): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { message, headers, method } of fake.received) {
    const authorization = String(headers["authorization"] ?? "none");
    const all = found.get(authorization) ?? new Set();
    const name = message?.["method"];
    found.set(authorization, all.add(typeof name === "string" ? name : method));
  }
  return found;
}

describe.each(["legacy", "modern"] as const)("mapped headers of a %s client", (era) => {
  it.each(["legacy", "modern"] as const)(
    "give each caller a connection to a %s server, from its first request on",
    async (versions) => {
      await using fake = await openFake({ versions });
      await using hub = await openHub({ it: { url: fake.url } }, {}, mapping);
      await using gateway = await openGateway(hub);
      const [ada, bob] = [
        await gateway.client(era, { "x-caller": "ada", "x-token": "Bearer of-ada" }),
        await gateway.client(era, { "x-caller": "bob", "x-token": "Bearer of-bob" }),
      ];
      for (const client of [ada, bob]) {
        await client.result(client.request("tools/list"));
        await client.result(client.call("it__echo"));
      }
      const seen = shown(fake);
      const handshake = versions === "legacy" ? "initialize" : "server/discover";
      expect([...seen.keys()].toSorted()).toEqual(["Bearer of-ada", "Bearer of-bob"]);
      for (const methods of seen.values())
        expect([...methods]).toEqual(expect.arrayContaining([handshake, "tools/list", "tools/call"]));
      const sessions = fake.received.flatMap(({ headers }) =>
        headers["mcp-session-id"] === undefined
          ? []
          : [`${String(headers["mcp-session-id"])} ${String(headers["authorization"])}`],
      );
      if (versions === "legacy") expect(new Set(sessions).size).toBe(2);
    },
  );

  it("give a new connection when they change, also to people who are one caller", async () => {
    await using fake = await openFake({ versions: "legacy" });
    await using hub = await openHub({ it: { url: fake.url } }, {}, mapping);
    await using gateway = await openGateway(hub);
    const headers = { "x-token": "Bearer first" };
    const client = await gateway.client(era, headers);
    await client.result(client.call("it__echo"));
    headers["x-token"] = "Bearer second";
    await client.result(client.call("it__echo"));
    headers["x-token"] = "Bearer first";
    await client.result(client.call("it__echo"));
    const seen = fake.received.map(({ message, headers: its }) => [
      message?.["method"],
      its["authorization"],
    ]);
    expect(seen.filter(([method]) => method === "initialize")).toEqual([
      ["initialize", "Bearer first"],
      ["initialize", "Bearer second"],
    ]);
    expect(seen.filter(([method]) => method === "tools/call").map(([, token]) => token)).toEqual([
      "Bearer first",
      "Bearer second",
      "Bearer first",
    ]);
  });

  it("are refused with their own connection only, and are in no event, status or error", async () => {
    const secret = "Bearer s3cr3t-of-ada";
    const refused = {
      status: 401,
      headers: { "www-authenticate": `Bearer error="${secret}"` },
      body: secret,
    };
    await using fake = await openFake({
      versions: "legacy",
      on: [{ when: { http: "POST" }, do: [{ http: refused }] }],
    });
    await using hub = await openHub({ it: { url: fake.url } }, {}, mapping);
    const said: unknown[] = [];
    for (const type of ["connection-changed", "server-log", "auth-changed", "call-end"] as const)
      hub.on(type, (event) => said.push(event));
    await using gateway = await openGateway(hub);
    const client = await gateway.client(era, { "x-token": secret });
    said.push(await client.call("it__echo").answer, hub.status(), hub.calls());
    said.push(hub.view({ headers: { it: { authorization: secret } } }));
    expect(fake.received.some(({ headers }) => headers["authorization"] === secret)).toBe(true);
    expect(inspect(said, { depth: 20, showHidden: true })).not.toContain("s3cr3t");
  });
});

describe("the headers of a view", () => {
  it("separate what servers say for one caller, and are not passed to other servers", async () => {
    const logged = { method: "notifications/message", params: { level: "error", data: "for one" } };
    const on = [{ when: { tool: "echo" }, do: [{ notify: logged }, { default: true as const }] }];
    await using fake = await openFake({ versions: "legacy", on });
    await using other = await openFake({ versions: "legacy" });
    await using hub = await openHub({ it: { url: fake.url }, other: { url: other.url } });
    const view = (token: string) =>
      hub.view({ caller: "app", headers: { it: { authorization: `Bearer ${token}` } } });
    const [one, two] = [view("one"), view("two")];
    const heard: string[] = [];
    one.onNotification(() => heard.push("one"));
    two.onNotification(() => heard.push("two"));
    two.on("server-log", () => heard.push("log of two"));
    await one.callTool("it.echo");
    await one.callTool("other.echo");
    expect(heard).toEqual(["one"]);
    expect([...shown(other).keys()]).toEqual(["none"]);
  });

  it("are refused if a request has one of them twice", async () => {
    await using fake = await openFake();
    await using hub = await openHub({ it: { url: fake.url } }, {}, mapping);
    const gateway = createGateway(hub, { authenticate: () => "app" });
    const { port } = await gateway.listen();
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "a", version: "1" },
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
    const answered = (own: string[]) => {
      const { promise, resolve, reject } = Promise.withResolvers<[number | undefined, string]>();
      const accept = ["Accept", "application/json, text/event-stream", "Content-Type", "application/json"];
      const headers = ["Host", `127.0.0.1:${port}`, ...accept, ...own];
      const sent = request({ port, path: "/mcp", method: "POST", headers }, (response) => {
        text(response).then((said) => resolve([response.statusCode, said]), reject);
      });
      sent.on("error", reject).end(body);
      return promise;
    };
    const others = ["X-Other", "a", "x-other", "b"];
    expect((await answered([...others, "X-Token", "Bearer of-ada"]))[0]).toBe(200);
    const [status, said] = await answered(["X-Token", "Bearer of-ada", "x-token", "Bearer of-bob"]);
    expect([status, said]).toEqual([400, expect.stringContaining("x-token may be sent only once")]);
    await gateway.close({ drainMs: 0 });
    for (const { headers } of fake.received) expect(headers["authorization"]).not.toContain("bob");
  });

  it("that belong to the protocol are refused", async () => {
    await using hub = await openHub({});
    expect(() => hub.view({ headers: { it: { host: "example.com" } } })).toThrow(/not for callers to set/);
  });
});
