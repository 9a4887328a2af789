import { connect } from "node:net";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import type { Exchange } from "../../../src/gateway/exchange.ts";
import { echo, modern, openFront, post, token, until } from "./open-front.ts";
import type { Sending } from "./open-front.ts";

/** A client that sends bytes as it likes. */
class RawClient {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  text = "";

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    this.socket.on("data", (chunk) => (this.text += chunk.toString("latin1")));
    this.socket.on("error", () => undefined);
    this.closed = new Promise((resolve) => {
      this.socket.once("close", () => resolve());
      this.socket.once("end", () => {
        this.socket.destroy();
      });
    });
  }

  send(text: string): this {
    this.socket.write(text, "latin1");
    return this;
  }

  async status(): Promise<string> {
    await until(() => this.text.includes("\r\n") || this.socket.destroyed);
    return this.text.split(" ")[1] ?? "closed";
  }
}

const body = (sending: Sending) => String(sending.body);

function head(port: number, lines: string[] = [], start = "POST /mcp HTTP/1.1"): string {
  const usual = [
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${token}`,
    "Content-Type: application/json",
    "MCP-Protocol-Version: 2026-07-28",
    "Mcp-Method: tools/list",
  ];
  return `${[start, ...usual, ...lines].join("\r\n")}\r\n\r\n`;
}

describe("M80 a client that breaks the rules of HTTP", () => {
  it("is answered with a status and goes; everybody else is served", async () => {
    await using front = await openFront(echo, { limits: { headerBytes: 4_096, bodyBytes: 1_000 } });
    const { port } = front;
    const cases: [string, string, string][] = [
      ["no HTTP", "\x16\x03\x01 hello\r\n\r\n", "400"],
      ["no Host", "POST /mcp HTTP/1.1\r\n\r\n", "400"],
      ["HTTP/1.0 without Host", "GET /healthz HTTP/1.0\r\n\r\n", "403"],
      ["a header that is too long", head(port, [`X-Long: ${"a".repeat(10_000)}`]), "431"],
      ["two lengths", head(port, ["Content-Length: 1", "Content-Length: 2"]), "400"],
      ["a length and chunks", head(port, ["Content-Length: 5", "Transfer-Encoding: chunked"]), "400"],
      ["a broken chunk", `${head(port, ["Transfer-Encoding: chunked"])}zz\r\n`, "400"],
      ["a line break in a header", head(port, ["Mcp-Name: a\nb"]), "400"],
      ["a zero byte in a header", head(port, ["Mcp-Name: a\0b"]), "400"],
      ["another address in the first line", head(port, [], "GET http://evil.com/mcp HTTP/1.1"), "400"],
      ["no host in the first line", head(port, [], "GET http:///mcp HTTP/1.1"), "400"],
      ["two hosts, ours first", head(port, ["Host: evil.com"]), "400"],
      ["the same host twice", head(port, [`host: 127.0.0.1:${port}`]), "400"],
      ["two hosts on another route", head(port, ["Host: evil.com"], "GET /healthz HTTP/1.1"), "400"],
      ["two tokens, ours first", head(port, ["Authorization: Bearer other"]), "400"],
      ["two origins", head(port, ["Origin: http://localhost", "Origin: http://evil.com"]), "400"],
      ["two methods", head(port, ["Mcp-Method: tools/call"]), "400"],
      ["two names", head(port, ["Mcp-Name: a", "MCP-NAME: b"]), "400"],
      ["two revisions", head(port, ["MCP-Protocol-Version: 2025-06-18"]), "400"],
      ["two sessions", head(port, ["Mcp-Session-Id: a", "Mcp-Session-Id: b"]), "400"],
      ["two values of an argument", head(port, ["Mcp-Param-Region: a", "mcp-param-region: b"]), "400"],
      ["two media types", head(port, ["Content-Type: text/plain"]), "400"],
      ["a path that climbs", head(port, [], "GET /mcp/../healthz HTTP/1.1"), "404"],
      ["a bundle that is no text", head(port, [], "GET /mcp/%ff HTTP/1.1"), "404"],
      ["a body that is announced too long", head(port, ["Content-Length: 1001"]), "413"],
      [
        "a body that becomes too long",
        `${head(port, ["Transfer-Encoding: chunked"])}7d0\r\n${"a".repeat(2_000)}\r\n0\r\n\r\n`,
        "413",
      ],
      ["a tunnel", "CONNECT evil.com:443 HTTP/1.1\r\nHost: evil.com\r\n\r\n", "closed"],
    ];
    for (const [name, bytes, status] of cases) {
      const client = new RawClient(port).send(bytes);
      expect([name, await client.status()]).toEqual([name, status]);
      expect(client.text).not.toMatch(/node_modules|\.ts:|\.js:/);
      client.socket.destroy();
    }
    expect((await post(port, modern("tools/list"))).status).toBe(200);
    await until(() => front.front.held.requests === 0);
  });

  it("is cut off when it takes too long to send its header or its body", async () => {
    const limits = { headerMs: 50, requestMs: 100 };
    await using front = await openFront(echo, { limits });
    const clients = [
      new RawClient(front.port),
      new RawClient(front.port).send("POST /mcp HTTP/1.1\r\nHost: "),
      new RawClient(front.port).send(`${head(front.port, ["Content-Length: 100"])}{"json`),
    ];
    await Promise.all(clients.map(({ closed }) => closed));
    expect(clients[2]?.text).toMatch(/^HTTP\/1.1 408/);
    await until(() => front.front.held.requests === 0);
  });

  it("may vanish in the middle of its body", async () => {
    await using front = await openFront();
    const client = new RawClient(front.port).send(`${head(front.port, ["Content-Length: 100"])}{"json`);
    await until(() => front.front.held.requests === 1);
    client.socket.resetAndDestroy();
    await until(() => front.front.held.requests === 0);
    expect(front.front.held.callers).toBe(0);
  });

  it("may vanish while it is being authenticated", async () => {
    let asked = 0;
    const decided = Promise.withResolvers<string>();
    const authenticate = () => {
      asked++;
      return decided.promise;
    };
    const answer = async ({ signal }: Exchange) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return { result: {} };
    };
    await using front = await openFront(answer, { authenticate });
    const text = body(modern("tools/list"));
    for (const part of [text, ""]) {
      const client = new RawClient(front.port).send(
        head(front.port, [`Content-Length: ${text.length}`]) + part,
      );
      const before = asked;
      await until(() => asked > before);
      client.socket.resetAndDestroy();
      await client.closed;
    }
    // One more request gets its answer after the server has noticed.
    expect((await post(front.port, { method: "GET", path: "/healthz" })).status).toBe(200);
    decided.resolve("ada");
    await new Promise((resolve) => setImmediate(resolve));
    await until(() => front.front.held.requests === 0);
    expect(front.front.held.callers).toBe(0);
  });

  it("may nest as deep as it likes", async () => {
    await using front = await openFront();
    const deep = `${"[".repeat(500_000)}${"]".repeat(500_000)}`;
    const sending = modern("tools/list", { a: 0 });
    const reply = await post(front.port, {
      ...sending,
      body: String(sending.body).replace('"a":0', `"a":${deep}`),
    });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect((await post(front.port, modern("tools/list"))).status).toBe(200);
  });

  it("may send as many keys as fit into a body without keeping others waiting", async () => {
    await using front = await openFront();
    const keys = Array.from({ length: 300_000 }, (_, index) => `"k${index}":1,`).join("");
    const { headers } = modern("tools/list");
    const many = { headers: headers ?? {}, body: body(modern("tools/list")).replace("{", `{${keys}`) };
    expect((await post(front.port, many)).status).toBe(200);
  });

  it("may close its half of the connection and still read the answer", async () => {
    await using front = await openFront();
    const text = body(modern("tools/list"));
    const client = new RawClient(front.port).send(
      head(front.port, [`Content-Length: ${text.length}`]) + text,
    );
    client.socket.end();
    await until(() => client.text.includes('"result"') || client.socket.destroyed);
    expect(await client.status()).toBe("200");
    client.socket.destroy();
  });

  it("gets the answers to requests that it sent at once in their order", async () => {
    await using front = await openFront();
    const ids = Array.from({ length: 50 }, (_, id) => id + 100);
    const requests = ids.map((id) => {
      const text = body(modern("tools/list")).replace('"id":1', `"id":${id}`);
      return head(front.port, [`Content-Length: ${text.length}`]) + text;
    });
    const client = new RawClient(front.port).send(requests.join(""));
    await until(() => client.text.split('"result"').length > 50);
    const answered = [...client.text.matchAll(/"id":(\d+),"result"/g)].map(([, id]) => Number(id));
    expect(answered).toEqual(ids);
    client.socket.destroy();
  });

  it("is answered although it goes on sending a body that is too long", async () => {
    await using front = await openFront(echo, { limits: { bodyBytes: 1_000 } });
    const reply = await post(front.port, { ...modern("tools/list"), body: "x".repeat(8_000_000) });
    expect([reply.status, reply.headers.connection]).toEqual([413, "close"]);
  });

  it("is refused when all connections are in use, and signs of life are given nevertheless", async () => {
    await using front = await openFront(echo, { limits: { connections: 2 } });
    const inside = [new RawClient(front.port), new RawClient(front.port)];
    for (const client of inside) client.send(head(front.port, ["Content-Length: 100"]));
    await until(() => front.front.held.requests === 2);
    const refused = await post(front.port, modern("tools/list"));
    expect([refused.status, refused.headers.connection]).toEqual([503, "close"]);
    expect((await post(front.port, { method: "GET", path: "/healthz" })).status).toBe(200);
    for (const { socket } of inside) socket.destroy();
    await until(() => front.front.held.requests === 0);
    expect((await post(front.port, modern("tools/list"))).status).toBe(200);
  });
});
