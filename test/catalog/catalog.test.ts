import { describe, expect, it, onTestFinished } from "vitest";
import { createHub } from "../../src/index.ts";
import type { ConfigLiteral, HubOptions } from "../../src/index.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { fakeStdio, readFakeLog, startFakeHttp } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";

async function hubOf(servers: ConfigLiteral["servers"], options: HubOptions = {}) {
  const hub = await createHub({ servers }, options);
  onTestFinished(() => hub.close());
  return hub;
}

const object = { type: "object" };
const named = (...names: string[]) => names.map((name) => ({ name, inputSchema: object }));

describe("M41 lists", () => {
  it("are read page by page, keep unknown fields, and have a stable order", async () => {
    const tools = [
      { name: "b", inputSchema: object, "x-extra": 1, _meta: { k: 1 }, icons: [{ src: "i" }] },
      ...named("a", "c"),
    ];
    const first = await hubOf({ z: fakeStdio({ tools, pageSize: 1 }), y: fakeStdio({ tools: named("q") }) });
    const ids = (await first.tools()).map(({ id }) => id);
    expect(ids).toEqual(["mcp__y__q", "mcp__z__a", "mcp__z__b", "mcp__z__c"]);
    expect((await first.tools()).find(({ name }) => name === "b")?.raw).toEqual(tools[0]);
    const second = await hubOf({ y: fakeStdio({ tools: named("q") }), z: fakeStdio({ tools, pageSize: 2 }) });
    expect((await second.tools()).map(({ id }) => id)).toEqual(ids);
  });

  it("follow an empty cursor and reject a repeated one", async () => {
    const page = (cursor: string | undefined) => ({
      answer: { tools: named(`t${cursor ?? "end"}`), ...(cursor !== undefined && { nextCursor: cursor }) },
    });
    const empty = fakeStdio({
      versions: "legacy",
      on: [
        { when: { method: "tools/list", nth: 1 }, do: [page("")] },
        { when: { method: "tools/list" }, do: [page(undefined)] },
      ],
    });
    const circle = fakeStdio({
      versions: "legacy",
      on: [{ when: { method: "tools/list" }, do: [page("again")] }],
    });
    const hub = await hubOf({ circle, empty, good: fakeStdio({ tools: named("fine") }) });
    expect((await hub.tools()).map(({ id }) => id)).toEqual([
      "mcp__empty__t",
      "mcp__empty__tend",
      "mcp__good__fine",
    ]);
    expect(hub.status().find(({ name }) => name === "circle")).toMatchObject({
      state: "degraded",
      message: expect.stringContaining("in circles"),
    });
  });

  it("are read again after the server reports a change, and the last good one is kept if that fails", async () => {
    const http = await startFakeHttp({ tools: named("one") });
    onTestFinished(() => http.close());
    const hub = await hubOf({ it: { url: http.url } });
    expect((await hub.tools()).map(({ name }) => name)).toEqual(["one"]);
    const changed = Promise.withResolvers<void>();
    hub.on("catalog-changed", () => changed.resolve());
    http.set({ tools: named("two") });
    await http.notify({ method: "notifications/tools/list_changed" });
    await changed.promise;
    expect((await hub.tools()).map(({ name }) => name)).toEqual(["two"]);
    http.set({
      on: [{ when: { method: "tools/list" }, do: [{ error: { code: -32603, message: "broken" } }] }],
    });
    await expect(hub.refresh("it")).rejects.toMatchObject({ code: "protocol-error" });
    expect((await hub.tools()).map(({ name }) => name)).toEqual(["two"]);
    expect(hub.status()[0]).toMatchObject({ state: "degraded" });
  });

  it("keep the first of two tools with the same name, and explain why the second is set aside", async () => {
    const hub = await hubOf({
      it: fakeStdio({
        tools: [
          { name: "x", inputSchema: object, description: "first" },
          { name: "x", inputSchema: object, description: "second" },
        ],
      }),
    });
    expect((await hub.tools()).map(({ description }) => description)).toEqual(["first"]);
    expect((await hub.allTools()).filter(({ status }) => status === "set-aside")).toHaveLength(1);
  });
});

describe("M29 snapshots", () => {
  it("list tools without starting any server", async () => {
    const box = createSandbox();
    const log = box.path("log.jsonl");
    const store = createMemoryStore();
    const servers = { it: fakeStdio({ log, tools: named("one") }) };
    const first = await createHub({ servers }, { store });
    await first.tools();
    await first.close();
    const starts = () => readFakeLog(log).filter((line) => "pid" in line).length;
    const before = starts();
    const second = await hubOf(servers, { store });
    expect((await second.tools()).map(({ id }) => id)).toEqual(["mcp__it__one"]);
    expect((await second.tools({ wait: false })).length).toBe(1);
    expect(second.status()[0]?.state).toBe("ready");
    expect(starts()).toBe(before);
  });

  it("depend on the program, not on the server's name", async () => {
    const store = createMemoryStore();
    const first = await createHub({ servers: { it: fakeStdio({ tools: named("one") }) } }, { store });
    await first.tools();
    await first.close();
    const second = await hubOf({ it: fakeStdio({ tools: named("other") }) }, { store });
    expect(await second.tools({ wait: false })).toEqual([]);
    expect((await second.tools()).map(({ name }) => name)).toEqual(["other"]);
  });
});

describe.each(["legacy", "modern"] as const)("M47 resources and M48 prompts of a %s server", (versions) => {
  it("are listed, read, completed and subscribed to", async () => {
    const http = await startFakeHttp({ versions });
    onTestFinished(() => http.close());
    const hub = await hubOf({ it: { url: http.url } });
    const [resource] = await hub.resources();
    const uri = String(resource?.raw["uri"]);
    expect((await hub.readResource("it", uri)).contents.length).toBeGreaterThan(0);
    expect(await hub.mentions(`see @it:${uri}, please`)).toMatchObject([
      { server: "it", uri, contents: { contents: expect.any(Array) } },
    ]);
    expect((await hub.resourceTemplates()).length).toBeGreaterThanOrEqual(0);
    const [command] = await hub.commands();
    expect(command?.command).toMatch(/^\/mcp__it__/);
    const args = Object.fromEntries((command?.arguments ?? []).map(({ name }) => [name, "x"]));
    expect((await hub.getPrompt(command?.id ?? "", args)).messages.length).toBeGreaterThan(0);
    const heard = Promise.withResolvers<string>();
    const stop = await hub.subscribeResource("it", uri, (update) => heard.resolve(update.uri));
    await expect
      .poll(
        () =>
          http.received.some(({ body }) =>
            /resourceSubscriptions|resources.subscribe/.test(JSON.stringify(body ?? "")),
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
    await http.notify({ method: "notifications/resources/updated", params: { uri } });
    expect(await heard.promise).toBe(uri);
    await stop();
  });
});

describe("M12 explaining a tool", () => {
  it("names the rule itself, its file and its line, not the server's", async () => {
    const box = createSandbox();
    const text = `{
      "approval": { "tools": { "*": "auto" } },
      "mcpServers": { "it": ${JSON.stringify(fakeStdio({})).slice(0, -1)},
        "tools": {
          "deny": [
            "nothing",
            "ad*"
          ],
          "annotations": { "echo": { "readOnlyHint": true } }
        },
        "approval": { "tools": {
          "nobody": "deny",
          "echo": "prompt" } }
      } },
      "bundles": {
        "few": { "servers": ["it"], "tools": {
          "allow": ["process", "add"],
          "deny": ["proc*"] } }
      } }`;
    const file = box.write("home/.config/plugboard/config.json", text);
    const at = (line: number) => ({ scope: "user", file, line });
    const { loadConfig } = await import("../../src/index.ts");
    const hub = await createHub(await loadConfig(box.options));
    onTestFinished(() => hub.close());
    const denied = { rule: "tools.deny[1]", pattern: "ad*", origin: at(7) };
    expect(await hub.explainTool("it.add")).toMatchObject({
      status: "hidden",
      because: "`tools.deny` hides it",
      decidedBy: denied,
      approval: { mode: "auto", origin: at(2) },
      rules: [denied, { rule: 'approval.tools["*"]', origin: at(2) }],
    });
    expect(await hub.explainTool("it.echo")).toMatchObject({
      status: "available",
      approval: { mode: "prompt", rule: "approval.tools.echo", origin: at(13) },
      rules: [
        { rule: "tools.annotations.echo", origin: at(9) },
        { rule: "approval.tools.echo", origin: at(13) },
      ],
    });
    const few = hub.view({ bundle: "few" });
    expect(await few.explainTool("it.process")).toMatchObject({
      decidedBy: { rule: "bundles.few.tools.deny[0]", pattern: "proc*", origin: at(18) },
    });
    expect(await few.explainTool("it.echo")).toMatchObject({
      because: "`tools.allow` of the bundle does not list it",
      decidedBy: { rule: "bundles.few.tools.allow", origin: at(17) },
    });
  });
});

describe("M06 a bundle with a mistake", () => {
  it("says which bundle and what, where it is used; an unknown name suggests another", async () => {
    const box = createSandbox();
    const bundles = {
      reading: { servers: ["it"], tools: { allow: [] } },
      typed: { servers: "it", mode: "indirect" },
      fine: { servers: ["it", "ti"] },
    };
    const file = box.write("home/.config/plugboard/config.json", {
      mcpServers: { it: fakeStdio({}) },
      bundles,
    });
    const { loadConfig } = await import("../../src/index.ts");
    const config = await loadConfig(box.options);
    const hub = await createHub(config);
    onTestFinished(() => hub.close());
    await expect(hub.view({ bundle: "reading" }).tools()).rejects.toMatchObject({
      code: "config-invalid",
      message: expect.stringMatching(
        /^The bundle "reading" has mistakes: bundles\.reading\.tools\.allow: an empty .allow. list hides every tool \(.*config\.json:\d+\)\.$/,
      ) as string,
      data: { bundle: "reading" },
    });
    await expect(hub.view({ bundle: "typed" }).tools()).rejects.toMatchObject({
      message: expect.stringMatching(/bundles\.typed\.servers: .*; bundles\.typed\.mode: /) as string,
    });
    await expect(hub.view({ bundle: "raeding" }).tools()).rejects.toMatchObject({
      code: "server-unknown",
      hint: 'Did you mean "reading"?',
    });
    expect((await hub.view({ bundle: "fine" }).tools()).length).toBeGreaterThan(0);
    const line = box.read("home/.config/plugboard/config.json").split("\n").indexOf('        "ti"') + 1;
    expect(config.diagnostics.filter(({ bundle }) => bundle === "fine")).toMatchObject([
      {
        message: 'there is no server "ti"',
        path: "bundles.fine.servers[1]",
        suggestion: 'did you mean "it"?',
        file,
        line,
      },
    ]);
  });
});
