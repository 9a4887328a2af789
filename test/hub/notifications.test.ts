import { describe, expect, it } from "vitest";
import type { ServerNotification } from "../../src/host.ts";
import type { View } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Step } from "../fixtures/fake/index.ts";
import { failure, openFake, openHub, openLogged } from "../servers/hub-fixture.ts";

const said = {
  method: "notifications/example/said",
  params: { deep: [{ a: 1 }], _meta: { "example.com/x": 1 } },
};
const logged = { method: "notifications/message", params: { level: "error", data: { a: 1 }, more: true } };
const changed = { method: "notifications/tools/list_changed", params: {} };

/** A server that says this before it answers `echo`. */
const saying = (...notifications: { method: string; params?: Record<string, unknown> }[]) => {
  const steps = notifications.map((notify): Step => ({ notify }));
  return { on: [{ when: { tool: "echo" }, do: [...steps, { default: true as const }] }] };
};

function listen(view: View): ServerNotification[] {
  const heard: ServerNotification[] = [];
  view.onNotification((notification) => heard.push(notification));
  return heard;
}

describe("M81 what servers say by themselves", () => {
  it("is heard complete, in both eras, by those who see the server, until they no longer listen", async () => {
    const servers = {
      old: fakeStdio({ versions: "legacy", ...saying(said) }),
      new: fakeStdio({ versions: "modern", ...saying(said) }),
    };
    await using hub = await openHub(servers);
    const [all, some] = [listen(hub), listen(hub.view({ servers: ["new"] }))];
    const once: unknown[] = [];
    const stop = hub.onNotification((notification) => {
      once.push(notification);
      stop();
    });
    await hub.callTool("old.echo");
    await hub.callTool("new.echo");
    const audience = { for: "nobody" };
    expect(all).toEqual(["old", "new"].map((server) => ({ server, ...said, audience, isOfRequest: false })));
    expect(some.map(({ server }) => server)).toEqual(["new"]);
    expect(once).toHaveLength(1);
  });

  it("belongs to the caller of the connection or request; changes of lists are for everybody", async () => {
    await using http = await openFake({ versions: "legacy", responses: "sse", ...saying(logged, changed) });
    const own = { ...fakeStdio({ versions: "legacy", ...saying(said) }), isolation: "caller" as const };
    const single = { ...fakeStdio({ versions: "legacy", ...saying(said) }), isolation: "call" as const };
    await using hub = await openHub({ http: { url: http.url }, own, single });
    const views = { ada: hub.view({ caller: "ada" }), bob: hub.view({ caller: "bob" }) };
    const [ada, bob] = [listen(views.ada), listen(views.bob)];
    const inCall: string[] = [];
    const onNotification = (method: string) => inCall.push(method);
    await views.ada.forwardCall("http.echo", {}, { onNotification });
    for (const server of ["own", "single"]) await views.ada.callTool(`${server}.echo`);
    const told = (one: ServerNotification[]) => one.map(({ server, method }) => [server, method]);
    await expect.poll(() => told(ada)).toContainEqual(["http", changed.method]);
    expect(told(ada)).toEqual(
      expect.arrayContaining([
        ["http", logged.method],
        ["own", said.method],
        ["single", said.method],
      ]),
    );
    expect(ada.find(({ method }) => method === logged.method)).toMatchObject({
      audience: { for: "caller", caller: "ada" },
      isOfRequest: true,
    });
    expect(inCall).toContain(logged.method);
    expect(told(bob)).toEqual([["http", changed.method]]);
  });

  it("holds no secrets and no ids that are ours", async () => {
    const token = "s3cr3t-token-of-the-server";
    const echo = { method: "notifications/example/said", params: { header: `Bearer ${token}` } };
    const steps: Step[] = [
      { notify: echo },
      { notify: { method: "notifications/cancelled", params: { requestId: "p1" } } },
      { default: true },
    ];
    await using http = await openFake({
      versions: "modern",
      responses: "sse",
      on: [{ when: { tool: "echo" }, do: steps }],
    });
    const headers = { "x-key": token };
    await using hub = await openHub({ it: { url: http.url, headers } });
    const heard = listen(hub);
    await hub.callTool("it.echo");
    await hub.callTool("it.change", { what: "tools" });
    await expect.poll(() => heard.map(({ method }) => method)).toEqual([said.method, changed.method]);
    expect(JSON.stringify(heard)).not.toContain(token);
    expect(JSON.stringify(heard)).not.toContain("subscriptionId");
  });
});

describe("M81 a notification for a server", () => {
  it("reaches it over the connection of its view, and starts it", async () => {
    await using server = await openLogged({ versions: "legacy" });
    await using other = await openLogged({});
    await using hub = await openHub({ it: { ...server.entry, isolation: "caller" }, other: other.entry });
    await hub.view({ caller: "ada" }).notify("it", said.method, said.params);
    await hub.view({ caller: "ada" }).callTool("it.echo");
    expect(server.starts()).toBe(1);
    expect(server.heard().filter(({ method }) => method === said.method)).toMatchObject([
      { params: said.params },
    ]);
    expect(other.starts()).toBe(0);
  });

  it("names its method in a header where the server is modern", async () => {
    await using http = await openFake({ versions: "modern" });
    await using hub = await openHub({ it: { url: http.url } });
    await hub.notify("it", said.method);
    const sent = http.received.find(({ message }) => message?.["method"] === said.method);
    expect(sent?.headers).toMatchObject({ "mcp-method": said.method });
  });

  it("is refused where it is ours to send, the server is not shown, or nobody would hear it", async () => {
    const single = { ...fakeStdio({}), isolation: "call" as const };
    await using hub = await openHub({ it: fakeStdio({}), single });
    for (const method of [
      "notifications/cancelled",
      "notifications/initialized",
      "codex/sandbox-state/update",
    ])
      expect(await failure(hub.notify("it", method))).toMatchObject({ code: "usage-invalid" });
    const view = hub.view({ servers: ["single"] });
    expect(await failure(view.notify("it", said.method))).toMatchObject({ code: "server-unknown" });
    expect(await failure(view.notify("single", said.method))).toMatchObject({ code: "usage-invalid" });
    expect(await failure(hub.notify("it", said.method, {}, { signal: AbortSignal.abort() }))).toMatchObject({
      code: "call-cancelled",
    });
  });
});

describe("M81 the log level", () => {
  const levels = (server: { heard(): { method?: string; params?: Record<string, unknown> }[] }) =>
    server
      .heard()
      .flatMap(({ method, params }) => (method === "logging/setLevel" ? [params?.["level"]] : []));

  it("is set once for each change and connection: now, and when a server connects", async () => {
    await using now = await openLogged({ versions: "legacy" });
    await using later = await openLogged({ versions: "legacy" });
    await using hub = await openHub({ now: now.entry, later: later.entry });
    await hub.callTool("now.echo");
    await hub.setLogLevel("error");
    await hub.setLogLevel("error");
    await Promise.all([hub.setLogLevel("warning"), hub.setLogLevel("debug")]);
    await hub.callTool("later.echo");
    await hub.callTool("later.echo");
    expect(levels(now)).toEqual(["error", "warning", "debug"]);
    expect(levels(later)).toEqual(["debug"]);
    await hub.setLogLevel(undefined);
    await hub.disconnect("later");
    await hub.callTool("later.echo");
    expect(levels(later)).toEqual(["debug"]);
  });

  it("is told to no modern server and to none without logging; one that refuses works on", async () => {
    const refusal = { error: { code: -32_602, message: "no" } };
    const on = [{ when: { method: "logging/setLevel" }, do: [refusal] }];
    await using refusing = await openLogged({ versions: "legacy", on });
    await using silent = await openLogged({ versions: "legacy", capabilities: { tools: {} } });
    await using modern = await openLogged({ versions: "modern" });
    await using hub = await openHub({ refusing: refusing.entry, silent: silent.entry, modern: modern.entry });
    await hub.setLogLevel("info");
    for (const server of ["refusing", "silent", "modern"]) await hub.callTool(`${server}.echo`);
    await hub.setLogLevel("info");
    expect([levels(refusing), levels(silent), levels(modern)]).toEqual([["info"], [], []]);
  });

  it("of a request is what a modern server logs during it, and nothing to a legacy one", async () => {
    const key = "io.modelcontextprotocol/logLevel";
    for (const versions of ["modern", "legacy"] as const) {
      await using server = await openLogged({ versions });
      await using hub = await openHub({ it: server.entry });
      await hub.forwardCall("it.echo", {}, { logLevel: "warning" });
      await hub.forwardCall("it.echo", {});
      const metas = server
        .heard()
        .flatMap(({ method, params }) => (method === "tools/call" ? [params?.["_meta"]] : []));
      const told = metas.map((meta) => (meta as Record<string, unknown>)[key]);
      expect(told).toEqual([versions === "modern" ? "warning" : undefined, undefined]);
    }
  });
});
