import { describe, expect, it } from "vitest";
import type { FakeHttp } from "../fixtures/fake/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { failure, openFake, openHub, report } from "./hub-fixture.ts";

/** What the server got in a header, by the method of the message. */
const received = (fake: FakeHttp, header: string) =>
  fake.received.flatMap(({ message, headers }) => {
    const method = message?.["method"];
    return headers[header] === undefined
      ? []
      : [`${typeof method === "string" ? method : "?"} ${String(headers[header])}`];
  });

describe("M80 headers of one request", () => {
  it.for(["legacy", "modern"] as const)("are sent with it and with nothing else (%s)", async (versions) => {
    await using fake = await openFake({ versions });
    await using hub = await openHub({ it: { url: fake.url, headers: { "X-Team": "all" } } });
    const ada = hub.view({ caller: "ada" });
    await ada.forwardCall("it.echo", {}, { headers: { "X-User": "ada", "x-team": "core" } });
    await ada.request(
      "resources/read",
      { uri: "fake://readme" },
      { server: "it", headers: { "X-User": "bob" } },
    );
    await ada.callTool("it.echo");
    expect(received(fake, "x-user")).toEqual(["tools/call ada", "resources/read bob"]);
    const teams = received(fake, "x-team").filter((one) => one.startsWith("tools/call"));
    expect(teams).toEqual(["tools/call core", "tools/call all"]);
  });

  it("are hidden in what the server says only where they are credentials", async () => {
    const error = {
      code: -32_050,
      message: "no alexander with key k-1234567890",
      data: { user: "alexander" },
    };
    const on = [{ when: { tool: "echo" }, do: [{ error }] }];
    await using fake = await openFake({ versions: "legacy", on });
    await using hub = await openHub({ it: { url: fake.url } });
    const headers = { "X-User": "alexander", "X-Api-Key": "k-1234567890" };
    expect(await hub.forwardCall("it.echo", {}, { headers })).toEqual({
      error: { ...error, message: "no alexander with key (hidden)" },
    });
  });

  it("also reach servers over SSE, and are ignored by local ones", async () => {
    await using fake = await openFake({ versions: "legacy" });
    const servers = { sse: { type: "sse" as const, url: fake.sseUrl }, local: fakeStdio({}) };
    await using hub = await openHub(servers);
    for (const server of ["sse", "local"])
      expect(await hub.forwardCall(`${server}.echo`, {}, { headers: { "X-User": "ada" } })).toHaveProperty(
        "result",
      );
    expect(received(fake, "x-user")).toEqual(["tools/call ada"]);
  });

  it("cannot be those of the protocol or the connection, nor anything that is no header", async () => {
    await using fake = await openFake({ versions: "modern" });
    await using hub = await openHub({ it: { url: fake.url } });
    await hub.tools();
    const before = fake.received.length;
    const names = [
      "Host",
      "Content-Type",
      "content-length",
      "Mcp-Method",
      "MCP-Session-Id",
      "Connection",
      "Origin",
    ];
    const bad = [
      ...names.map((name) => [name, "x"]),
      ["a b", "x"],
      ["", "x"],
      ["x", "a\r\nb: c"],
      ["x", "\0"],
    ];
    for (const [name = "", value = ""] of bad) {
      const error = await failure(hub.forwardCall("it.echo", {}, { headers: { [name]: value } }));
      expect(error, name).toMatchObject({ code: "usage-invalid", executed: "no" });
    }
    expect(fake.received).toHaveLength(before);
  });

  it("that are refused fail that request only: no login, no new connection, nothing of them in the error", async () => {
    const token = "token-of-ada-1234567890";
    const refused = {
      http: { status: 401, headers: { "www-authenticate": `Bearer realm="${token}"` }, body: token },
    };
    const on = [{ when: { tool: "echo", nth: 1 }, do: [refused] }];
    await using fake = await openFake({ versions: "legacy", on });
    const asked: unknown[] = [];
    const logIn = async (question: unknown) => {
      asked.push(question);
      return undefined;
    };
    await using hub = await openHub({ it: { url: fake.url } }, { interact: { logIn } });
    await hub.tools();
    const greetings = () =>
      fake.received.filter(({ message }) => message?.["method"] === "initialize").length;
    const headers = { Authorization: `Bearer ${token}` };
    const error = await failure(hub.forwardCall("it.echo", {}, { headers }));
    expect(error).toMatchObject({ code: "auth-failed", server: "it" });
    expect(JSON.stringify([error, error.message, String(error.cause)])).not.toContain(token);
    expect(report(hub, "it").state).toBe("connected");
    expect(asked).toEqual([]);
    expect(await hub.forwardCall("it.echo", {}, { headers })).toHaveProperty("result");
    expect(await hub.forwardCall("it.echo", {})).toHaveProperty("result");
    expect(greetings()).toBe(1);
    expect(received(fake, "authorization")).toEqual([1, 2].map(() => `tools/call Bearer ${token}`));
  });

  it("come along when its broken stream is continued, and when it is cancelled", async () => {
    const cut = [{ default: true as const, cut: 0.5 }, { drop: "reset" as const }];
    await using fake = await openFake({
      versions: "legacy",
      responses: "sse",
      resumable: true,
      retryMs: 100,
      on: [{ when: { tool: "progress" }, do: [{ progress: 1 }, ...cut] }],
    });
    await using hub = await openHub({ it: { url: fake.url } });
    const stop = new AbortController();
    const headers = { "X-User": "ada" };
    const broken = hub.forwardCall("it.progress", {}, { headers, timeoutMs: 60_000 }).catch(() => "lost");
    await expect
      .poll(() =>
        fake.received.some(({ method, headers: got }) => method === "GET" && got["x-user"] === "ada"),
      )
      .toBe(true);
    await hub.close().then(() => broken);
    await using again = await openHub({ it: { url: fake.url } });
    const args = { arguments: { ms: 60_000 } };
    const sleeping = failure(again.forwardCall("it.sleep", args, { headers, signal: stop.signal }));
    const calls = () => received(fake, "x-user").filter((one) => one === "tools/call ada").length;
    await expect.poll(calls).toBe(2);
    stop.abort();
    await sleeping;
    await expect.poll(() => received(fake, "x-user")).toContain("notifications/cancelled ada");
  });
});
