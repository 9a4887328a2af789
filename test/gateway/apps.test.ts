import { describe, expect, it } from "vitest";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { inProcessFake } from "../servers/hub-fixture.ts";
import type { Fields } from "./clients/client.ts";
import { openPipe } from "./open-pipe.ts";

const page = "ui://widget/main.html";
const ui = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };

/** A server with an app: a tool for the model that names its page, and one that only the page may call. */
const withApp = (uri = page): Script => ({
  versions: "legacy",
  capabilities: { tools: {}, resources: {}, extensions: { "io.modelcontextprotocol/ui": {} } },
  tools: [
    {
      name: "show",
      inputSchema: { type: "object" },
      _meta: { ui: { resourceUri: uri }, "ui/resourceUri": uri },
    },
    { name: "refresh", inputSchema: { type: "object" }, _meta: { ui: { visibility: ["app"] } } },
  ],
  resources: [{ uri, name: "page", mimeType: "text/html;profile=mcp-app" }],
});

const names = (tools: Fields[]) => tools.map(({ name }) => name);

describe("M89 tools that only an app may call", () => {
  it("reach clients that show apps, with their `_meta`, and nobody else", async () => {
    await using served = await openPipe({
      one: inProcessFake(withApp()),
      two: inProcessFake({ versions: "legacy" }),
    });
    const host = await served.connect("modern", { capabilities: ui });
    const plain = await served.connect("modern");
    const seen = (await host.result(host.request("tools/list"))) as { tools: Fields[] };
    expect(names(seen.tools)).toEqual(expect.arrayContaining(["one__show", "one__refresh"]));
    expect(seen.tools.find(({ name }) => name === "one__refresh")).toMatchObject({
      _meta: { ui: { visibility: ["app"] } },
    });
    const others = (await plain.result(plain.request("tools/list"))) as { tools: Fields[] };
    expect(names(others.tools)).toContain("one__show");
    expect(names(others.tools)).not.toContain("one__refresh");
    expect(await host.call("one__refresh").answer).toHaveProperty("result.content");
    expect(await plain.call("one__refresh").answer).toMatchObject({ error: { code: -32_602 } });
  });

  // Results of a program are passed on as bytes.
  it.each([
    ["in process", inProcessFake],
    ["over stdio", fakeStdio],
  ])(
    "can be called by their bare name once the caller has read a page of exactly one server that has them, %s",
    async (_, open) => {
      await using served = await openPipe({ one: open(withApp()), two: open(withApp("ui://two/x")) });
      const host = await served.connect("legacy", { capabilities: ui });
      expect(await host.call("refresh").answer).toMatchObject({
        error: { code: -32_602, data: { near: ["one__refresh", "two__refresh"] } },
      });
      await host.result(host.request("resources/read", { uri: page }));
      expect(await host.call("refresh").answer).toHaveProperty("result.content");
      await host.result(host.request("resources/read", { uri: "ui://two/x" }));
      expect(await host.call("refresh").answer).toMatchObject({ error: { code: -32_602 } });
    },
  );
});

describe("M89 pages of apps", () => {
  it("keep `ui://`, and tools name the page that is read, where two servers have the same one", async () => {
    await using served = await openPipe({ one: inProcessFake(withApp()), two: inProcessFake(withApp()) });
    const host = await served.connect("modern", { capabilities: ui });
    const { tools } = (await host.result(host.request("tools/list"))) as { tools: Fields[] };
    const show = tools.find(({ name }) => name === "two__show");
    const uri = `${page}#plugboard=two`;
    expect(show).toMatchObject({ _meta: { ui: { resourceUri: uri }, "ui/resourceUri": uri } });
    const { contents } = (await host.result(host.request("resources/read", { uri }))) as {
      contents: Fields[];
    };
    expect(contents).toMatchObject([{ uri }]);
  });

  it.each([{ "ui/resourceUri": page }, { ui: { resourceUri: page } }])(
    "are named by results as they are by tools: %j",
    async (_meta) => {
      const on = [{ when: { method: "tools/call" }, do: [{ answer: { content: [], _meta } }] }];
      const entry = fakeStdio({ ...withApp(), on });
      await using served = await openPipe({ one: entry, two: entry });
      const host = await served.connect("modern", { capabilities: ui });
      const { text } = await host.call("two__show").answer;
      expect(text).toContain(`resourceUri":"${page}#plugboard=two"`);
    },
  );

  it("are announced only where a server has the extension", async () => {
    await using served = await openPipe({ one: inProcessFake(withApp()) });
    await using without = await openPipe({ one: inProcessFake({ versions: "legacy" }) });
    const host = await served.connect("legacy", { capabilities: ui });
    const other = await without.connect("legacy", { capabilities: ui });
    expect(host.server).toHaveProperty(["capabilities", "extensions", "io.modelcontextprotocol/ui"]);
    expect(other.server).not.toHaveProperty("capabilities.extensions");
  });
});
