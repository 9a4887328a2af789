import { describe, expect, it } from "vitest";
import type { Rule, Script } from "../fixtures/fake/index.ts";
import { inProcessFake } from "../servers/hub-fixture.ts";
import type { Fields } from "./clients/client.ts";
import { openPipe } from "./open-pipe.ts";

const resource = (uri: string) => ({ uri, name: uri });
const link = (uri: string) => ({ type: "resource_link", uri, name: uri });

/** A server whose tool `give` answers with this content. */
function giving(content: Fields[], script: Script): Script {
  return {
    ...script,
    tools: [{ name: "give", inputSchema: { type: "object" } }],
    on: [{ when: { tool: "give" }, do: [{ answer: { content } }] }],
  };
}

const reading = (server: string, uri: string): Rule => ({
  when: { method: "resources/read" },
  do: [{ answer: { contents: [{ uri, text: `from ${server}` }] } }],
});

async function read(
  client: Awaited<ReturnType<Awaited<ReturnType<typeof openPipe>>["connect"]>>,
  uri: string,
) {
  const { result, error } = await client.request("resources/read", { uri }).answer;
  const { contents = [] } = { ...result } as { contents?: Fields[] };
  return error ?? contents[0];
}

describe("M80 whose a resource is", () => {
  it("is decided by the lists, by templates, and by links that the caller was given", async () => {
    const one = giving([link("made://by/one")], {
      versions: "legacy",
      resources: [resource("file:///a")],
      resourceTemplates: [{ uriTemplate: "one://item/{id}", name: "item" }],
    });
    one.on?.push(reading("one", "x"));
    const two: Script = { versions: "legacy", resources: [resource("file:///b")], resourceTemplates: [] };
    two.on = [reading("two", "x")];
    await using served = await openPipe({ one: inProcessFake(one), two: inProcessFake(two) });
    const client = await served.connect("legacy");
    expect(await read(client, "file:///a")).toMatchObject({ text: "from one" });
    expect(await read(client, "file:///b")).toMatchObject({ text: "from two" });
    expect(await read(client, "one://item/7")).toMatchObject({ text: "from one" });
    expect(await read(client, "made://by/one")).toMatchObject({ code: -32_002 });
    await client.result(client.call("one__give"));
    expect(await read(client, "made://by/one")).toMatchObject({ text: "from one" });
  });

  it("is remembered for links of bounded length together; the newest stay", async () => {
    const long = (name: string) => `long://${name}/${"x".repeat(60_000)}`;
    const many = Array.from({ length: 40 }, (_, index) => long(String(index)));
    const tooLong = `data:${"x".repeat(70_000)}`;
    const one = giving([...many, "made://last", tooLong].map(link), { versions: "legacy", resources: [] });
    one.on?.push(reading("one", "x"));
    const two: Script = { versions: "legacy", resources: [] };
    await using served = await openPipe(
      { one: inProcessFake(one), two: inProcessFake(two) },
      { limits: { heldBytesPerCaller: 1024 * 1024 } },
    );
    const client = await served.connect("legacy");
    const { content } = (await client.result(client.call("one__give"))) as { content: Fields[] };
    expect(content).toHaveLength(42);
    expect(await read(client, "made://last")).toMatchObject({ text: "from one" });
    expect(await read(client, long("39"))).toMatchObject({ text: "from one" });
    expect(await read(client, long("0"))).toMatchObject({ code: -32_002 });
    expect(await read(client, tooLong)).toMatchObject({ code: -32_002 });
  });

  it("is told by the URI where two servers have the same one", async () => {
    const script = (server: string) => {
      const whole = giving([link("file:///same")], {
        versions: "legacy",
        resources: [resource("file:///same")],
      });
      whole.on?.push(reading(server, "file:///same"));
      return whole;
    };
    await using served = await openPipe({
      one: inProcessFake(script("one")),
      two: inProcessFake(script("two")),
    });
    const client = await served.connect("modern");
    const { resources } = (await client.result(client.request("resources/list"))) as { resources: Fields[] };
    const uris = resources.map(({ uri }) => String(uri));
    expect(uris).toEqual(["file:///same#plugboard=one", "file:///same#plugboard=two"]);
    for (const [index, server] of ["one", "two"].entries())
      expect(await read(client, uris[index] ?? "")).toMatchObject({
        uri: uris[index],
        text: `from ${server}`,
      });
    expect(await read(client, "file:///same")).toMatchObject({ text: "from two" });
    const other = await served.connect("legacy");
    const { content } = (await other.result(other.call("one__give"))) as { content: Fields[] };
    expect(content).toMatchObject([{ uri: uris[0] }]);
    expect(await read(other, "file:///same")).toMatchObject({ text: "from one" });
  });

  it("is nobody's if it names a server that does not have it", async () => {
    const one: Script = { resources: [resource("file:///a"), resource("own://b#plugboard=x")] };
    const two: Script = {
      resources: [resource("file:///b")],
      resourceTemplates: [{ uriTemplate: "file:///{path}", name: "file" }],
    };
    one.on = [reading("one", "x")];
    two.on = [reading("two", "x")];
    await using served = await openPipe({ one: inProcessFake(one), two: inProcessFake(two) });
    const client = await served.connect("modern");
    for (const uri of ["file:///b#plugboard=one", "file:///b#plugboard=gone"])
      expect(await read(client, uri)).toMatchObject({ code: -32_602 });
    expect(await read(client, "file:///b#plugboard=two")).toMatchObject({ text: "from two" });
    // A server may write such a URI by itself.
    expect(await read(client, "own://b#plugboard=x")).toMatchObject({ text: "from one" });
  });
});
