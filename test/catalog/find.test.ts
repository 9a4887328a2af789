import { describe, expect, it } from "vitest";
import type { View } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { openLogged } from "../servers/hub-fixture.ts";
import { ListServer, hubOf, named, object } from "./list-server.ts";

describe("a tool is found", () => {
  const odd = "a server with a very long name, spaces and dots. like this one";

  it("by its id in every kind of view, even if its server or name has unusual characters", async () => {
    const server = new ListServer({ tools: named("plain", "with space", "n".repeat(100)) });
    const bundles = { all: { servers: [odd, "it"] } };
    const hub = await hubOf(
      { it: server.entry, [odd]: server.entry },
      { toolFilter: ({ name }) => name !== "x" },
      { bundles },
    );
    const ids = (await hub.tools()).map(({ id }) => id);
    expect(ids).toHaveLength(6);
    const views = [
      hub,
      hub.view({ caller: "me" }),
      hub.view({ bundle: "all" }),
      hub.view({ tools: ["*"] }),
      hub.view({ servers: ["it", odd], exclude: ["other"], tools: ["mcp__*"] }),
    ];
    for (const view of views)
      for (const id of ids) {
        expect((await view.findTool(id, { wait: false })).id).toBe(id);
        expect((await view.callTool(id)).isError).toBeFalsy();
      }
    expect(server.count("tools/list")).toBe(2);
  });

  it("and asks only the server that an id, `server.tool` or `server/tool` names", async () => {
    const [it, other] = [new ListServer({ tools: named("t") }), new ListServer({ tools: named("t") })];
    for (const query of ["mcp__it__t", "it.t", "it/t", "mcp__it__missing", "it.missing"]) {
      const hub = await hubOf({ it: it.entry, other: other.entry });
      await hub.findTool(query).catch(() => undefined);
    }
    expect(it.connects).toBe(5);
    expect(other.connects).toBe(0);
  });

  it("by `server.tool` also where server names and tool names contain dots", async () => {
    const a = new ListServer({ tools: named("b.c") });
    const ab = new ListServer({ tools: named("d") });
    const hub = await hubOf({ a: a.entry, "a.b": ab.entry });
    expect(await hub.findTool("a.b.c")).toMatchObject({ server: "a", name: "b.c" });
    expect(await hub.findTool("a.b.d")).toMatchObject({ server: "a.b", name: "d" });
  });

  it("by its configured name and by the server's own name", async () => {
    await using server = await openLogged({ tools: named("echo", "say") });
    const hub = await hubOf({ it: { ...server.entry, tools: { rename: { echo: "say" } } } });
    // The first of two tools with the same name keeps it.
    expect(await hub.findTool("it.say")).toMatchObject({ id: "mcp__it__say", name: "echo" });
    expect(await hub.findTool("it.echo")).toMatchObject({ id: "mcp__it__say" });
    expect((await hub.allTools()).find(({ name }) => name === "say")?.status).toBe("set-aside");
  });

  it("by a bare name only if all lists are known", async () => {
    const [one, two] = [new ListServer({ tools: named("t") }), new ListServer({ tools: named("t", "u") })];
    const hub = await hubOf({ one: one.entry, two: two.entry });
    await hub.refresh("one");
    await expect(hub.callTool("t")).rejects.toMatchObject({
      code: "tool-unknown",
      data: { near: ["mcp__one__t", "mcp__two__t"] },
    });
    expect(await hub.findTool("u")).toMatchObject({ server: "two" });
  });

  it("by a bare name only if no other server may have it, too", async () => {
    const [one, two] = [new ListServer({ tools: named("t") }), new ListServer({ tools: named("t") })];
    Object.assign(one, { prompts: [{ name: "p" }] });
    two.isDown = true;
    const hub = await hubOf({ one: one.entry, two: two.entry });
    await hub.refresh("one");
    const uncertain = { code: "tool-unknown", data: { unknown: ["two"] } };
    await expect(hub.findTool("t", { wait: false })).rejects.toMatchObject(uncertain);
    await expect(hub.callTool("t")).rejects.toMatchObject({ ...uncertain, hint: "Say which: mcp__one__t." });
    await expect(hub.forwardCall("t", {})).rejects.toMatchObject(uncertain);
    await expect(hub.findPrompt("p", { wait: false })).rejects.toMatchObject(uncertain);
    await expect(hub.findPrompt("p")).rejects.toMatchObject(uncertain);
    expect(one.count("tools/call")).toBe(0);
    expect(await hub.findTool("one.t")).toMatchObject({ id: "mcp__one__t" });
    expect(await hub.view({ servers: ["one"] }).findTool("t")).toMatchObject({ id: "mcp__one__t" });
  });

  it("never at a server that is switched off, and the error says so", async () => {
    const server = new ListServer({ tools: named("t") });
    const off = { ...fakeStdio({}), enabled: false };
    const hub = await hubOf({ it: server.entry, off }, {}, { bundles: { b: { servers: ["it", "off"] } } });
    await hub.callTool("it.t");
    await hub.disable("it");
    for (const query of ["mcp__it__t", "it.t", "it/t", "off.echo", "mcp__off__echo"])
      for (const view of [hub, hub.view({ bundle: "b" }), hub.view({ tools: ["*"] })]) {
        await expect(view.callTool(query)).rejects.toMatchObject({ code: "server-disabled" });
        await expect(view.forwardCall(query, {})).rejects.toMatchObject({ code: "server-disabled" });
      }
    expect(server.count("tools/call")).toBe(1);
  });

  it("by a bare name if the tools of other servers with that name are hidden", async () => {
    const [one, two] = [new ListServer({ tools: named("t") }), new ListServer({ tools: named("t") })];
    const toolFilter = ({ server }: { server: string }) => server === "one";
    const hub = await hubOf({ one: one.entry, two: two.entry }, { toolFilter });
    expect(await hub.findTool("t")).toMatchObject({ server: "one" });
  });

  it("only in views that show it", async () => {
    const server = new ListServer({ tools: named("read", "write") });
    const hub = await hubOf(
      { it: server.entry, other: server.entry },
      {},
      { bundles: { b: { servers: ["other"] } } },
    );
    await hub.tools();
    const blind: View[] = [
      hub.view({ tools: ["read"] }),
      hub.view({ exclude: ["it"] }),
      hub.view({ servers: ["other"] }),
      hub.view({ bundle: "b" }),
      hub.view({ tools: ["r*"] }).view({ tools: ["*"] }),
    ];
    for (const view of blind)
      for (const query of ["mcp__it__write", "it.write"])
        await expect(view.callTool(query)).rejects.toMatchObject({ code: "tool-unknown" });
    expect(server.count("tools/call")).toBe(0);
  });
});

describe("a caller who must not share", () => {
  it("is asked and answered for by whoever listed the tools first on that caller's behalf", async () => {
    const hub = await hubOf({ it: { ...fakeStdio({ versions: "legacy" }), isolation: "caller" } });
    const asked: string[] = [];
    const view = hub.view({
      caller: "me",
      interact: {
        elicit: async ({ server }) => {
          asked.push(server);
          return { action: "accept", content: { name: "Ada" } };
        },
      },
    });
    await view.tools();
    await view.callTool("it.elicit");
    expect(asked).toEqual(["it"]);
  });
});

describe("an unknown tool", () => {
  const many = Array.from({ length: 10_000 }, (_, index) => `tool_${index}`);

  it("gets a suggestion in the notation of the query, however many tools there are", async () => {
    const server = new ListServer({
      tools: [...named(...many), { name: "search_issues", inputSchema: object }],
    });
    const hub = await hubOf({ github: server.entry });
    await hub.tools();
    const hint = (query: string) => hub.findTool(query).catch((error: { hint: string }) => error.hint);
    expect(await hint("serach_issues")).toBe("Did you mean search_issues?");
    expect(await hint("github.search_isues")).toBe("Did you mean github.search_issues?");
    expect(await hint("gihub/search_issues")).toBe("Did you mean github/search_issues?");
    expect(await hint("mcp__github__search_issue")).toBe("Did you mean mcp__github__search_issues?");
    expect(await hint("tool_99999")).toMatch(/^Did you mean tool_9+\?$/);
    expect(await hint("nothing like it at all")).not.toContain("Did you mean");
  });

  it("never gets a suggestion that the view does not show", async () => {
    const hub = await hubOf({ it: new ListServer({ tools: named("secret", "public") }).entry });
    await hub.tools();
    const view = hub.view({ tools: ["public"] });
    const error: unknown = await view.findTool("secrets").catch((reason: unknown) => reason);
    expect(JSON.stringify(error)).not.toContain('"secret"');
    expect(error).toMatchObject({ code: "tool-unknown", data: undefined });
  });
});

describe("a prompt is found", () => {
  it("like a tool, asking only its server", async () => {
    const [it, other] = [new ListServer({ prompts: [{ name: "greet" }] }), new ListServer({ prompts: [] })];
    const hub = await hubOf({ it: it.entry, other: other.entry });
    for (const query of ["mcp__it__greet", "/mcp__it__greet", "it.greet", "it/greet"])
      expect(await hub.findPrompt(query)).toMatchObject({ id: "mcp__it__greet", server: "it" });
    expect((await hub.getPrompt("it.greet")).messages).toHaveLength(1);
    expect(it.count("prompts/list")).toBe(1);
    expect(other.connects).toBe(0);
    expect(await hub.findPrompt("greet")).toMatchObject({ server: "it" });
    expect(other.connects).toBe(1);
  });

  it("or the error of its server is reported", async () => {
    const server = new ListServer();
    server.answers.set("prompts/list", () => new Error("broken"));
    const hub = await hubOf({ it: server.entry });
    await expect(hub.getPrompt("it.greet")).rejects.toMatchObject({ code: "protocol-error" });
    await expect(hub.getPrompt("greet")).rejects.toMatchObject({ code: "tool-unknown" });
  });
});

describe("a summary", () => {
  it("counts the callable tools of each view, and starts no server", async () => {
    const server = new ListServer({ tools: named("a1", "a2", "b") });
    const hub = await hubOf({ it: server.entry, unused: server.entry });
    await hub.refresh("it");
    expect(await hub.summary()).toBe(
      "MCP servers:\n- it (connected, 3 tools)\n- unused (starts when it is used)",
    );
    const view = hub.view({ servers: ["it"], tools: ["a*"] });
    expect(await view.summary()).toBe("MCP servers:\n- it (connected, 2 tools)");
    server.tools = named("a1");
    await hub.refresh("it");
    expect(await view.summary()).toBe("MCP servers:\n- it (connected, 1 tool)");
    expect(server.connects).toBe(1);
  });
});
