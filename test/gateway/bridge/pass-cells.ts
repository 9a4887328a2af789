import { expect } from "vitest";
import { toolDefinitions } from "../../fixtures/fake/tools.ts";
import { richScript } from "../upstreams.ts";
import { allOf, type RunCell } from "./cell.ts";

export const definitions: RunCell = async ({ client, name }) => {
  const listed = await allOf(client, "tools/list", "tools");
  const own = toolDefinitions({ rare: true });
  for (const definition of own) {
    const shown = listed.find((tool) => tool["name"] === name(String(definition["name"])));
    expect(JSON.stringify(shown)).toBe(JSON.stringify({ ...definition, name: shown?.["name"] }));
  }
};

const exactNumbers = (text: string): string => text.replaceAll(/9007199254740993|12345678901234567890/g, "");

export const results: RunCell = async ({ client, upstream, name, heard }) => {
  const { text, result } = await client.call(name("faithful")).answer;
  const content =
    '[{"type":"text","text":"ü€😀\u2028","annotations":{"audience":["user"],"priority":0.5},"later":null},' +
    '{"type":"resource_link","uri":"other://link","name":"link","icons":[{"src":"data:,"}]},' +
    '{"type":"kind-of-tomorrow","data":{"b":2,"a":1}}]';
  expect(text).toContain(`"content":${content}`);
  expect(text).toContain('"unknown":{"kept":["as","is"]}');
  if (upstream.name.endsWith("memory")) {
    expect(result).toMatchObject({
      structuredContent: { z: {}, a: [] },
      _meta: { "example.com/result": {} },
    });
  } else {
    expect(text).toContain('"structuredContent":{"big":9007199254740993,"exact":1.10,"z":{},"a":[]}');
    expect(text).toContain('"example.com/result":{"z":1,"a":12345678901234567890}');
  }
  if (client.era === "modern") expect(result).toMatchObject({ resultType: "complete" });
  expect(heard("tools/call")).toMatchObject([{ message: { params: { name: "faithful" } } }]);
};

export const args: RunCell = async ({ client, upstream, name, heard }) => {
  const own = '"arguments":{"z":1,"text":"ü\u2028","big":9007199254740993,"exact":1.10,"a":[{}]}';
  const unknown = '"unknown":{"b":9007199254740993,"a":[null]}';
  const meta = { "example.com/x": { z: 1, a: [2] } };
  const params = { name: name("echo"), _meta: meta };
  const rawParams = `{"name":${JSON.stringify(params.name)},${own},${unknown}}`;
  await client.result(client.once("tools/call", params, { rawParams, progressToken: "mine" }));
  const [call] = heard("tools/call");
  const text = call?.text ?? "";
  const same = upstream.name.endsWith("memory") ? exactNumbers : (one: string) => one;
  if (upstream.name.endsWith("memory")) {
    expect(call?.message.params).toMatchObject({ arguments: { z: 1, a: [{}] }, unknown: { a: [null] } });
  } else {
    expect(same(text)).toContain(same(own));
    expect(same(text)).toContain(same(unknown));
  }
  expect(text).toContain('"example.com/x":{"z":1,"a":[2]}');
  // What is between the client and us stays there.
  expect(text).not.toContain('"mine"');
  expect(text).not.toContain('"matrix"');
  expect(call?.message.params).toMatchObject({ name: "echo" });
  expect(text.includes("io.modelcontextprotocol/")).toBe(upstream.era === "modern");
};

export const errors: RunCell = async ({ client, name, heard }) => {
  const failed = await client.result(client.call(name("fail"), { message: "no luck" }));
  expect(failed).toMatchObject({ isError: true, content: [{ type: "text", text: "no luck" }] });
  const { error } = await client.call(name("refuse")).answer;
  expect(error).toEqual({
    code: -32_050,
    message: "not today",
    data: { why: [1, { deep: null }], until: "tomorrow" },
  });
  expect(heard("tools/call")).toHaveLength(2);
  const unknown = await client.call(name("ecko")).answer;
  expect(unknown.error).toMatchObject({ code: -32_602, message: expect.stringContaining("echo") as string });
  expect(heard("tools/call")).toHaveLength(2);
};

export const resources: RunCell = async ({ client, upstream, heard }) => {
  const { resources: own = [], resourceTemplates = [] } = richScript(upstream.name, upstream.era);
  const listed = await allOf(client, "resources/list", "resources");
  const mine = listed.filter(({ uri }) => String(uri).startsWith(`fake://${upstream.name}/`));
  expect(JSON.stringify(mine)).toBe(JSON.stringify(own));
  const templates = await allOf(client, "resources/templates/list", "resourceTemplates");
  expect(templates).toContainEqual(resourceTemplates[0]);
  for (const uri of [`fake://${upstream.name}/readme`, `fake://item/${upstream.name}/7`]) {
    const { contents } = await client.result(client.request("resources/read", { uri }));
    expect(contents).toEqual([{ uri, mimeType: "text/plain", text: `text of ${uri}` }]);
  }
  expect(heard("resources/read")).toHaveLength(2);
  const nobodys = await client.request("resources/read", { uri: "nobody://here" }).answer;
  expect(nobodys.error).toMatchObject({ code: client.era === "modern" ? -32_602 : -32_002 });
  expect(heard("resources/read")).toHaveLength(2);
};

export const prompts: RunCell = async ({ client, upstream, name, heard }) => {
  const listed = await allOf(client, "prompts/list", "prompts");
  const [greet] = richScript(upstream.name, upstream.era).prompts ?? [];
  expect(listed).toContainEqual({ ...greet, name: name("greet") });
  const got = await client.result(
    client.request("prompts/get", { name: name("greet"), arguments: { who: "Ada" } }),
  );
  expect(got["messages"]).toEqual([{ role: "user", content: { type: "text", text: 'greet {"who":"Ada"}' } }]);
  expect(heard("prompts/get")).toMatchObject([
    { message: { params: { name: "greet", arguments: { who: "Ada" } } } },
  ]);
  const argument = { name: "who", value: "am" };
  for (const ref of [
    { type: "ref/prompt", name: name("greet") },
    { type: "ref/resource", uri: `fake://item/${upstream.name}/{id}` },
  ]) {
    const { completion } = await client.result(client.request("completion/complete", { ref, argument }));
    expect(completion).toEqual({ values: ["amber", "amethyst"], total: 2, hasMore: false });
  }
  expect(heard("completion/complete")).toMatchObject([
    { message: { params: { ref: { name: "greet" }, argument } } },
    { message: { params: { ref: { uri: `fake://item/${upstream.name}/{id}` }, argument } } },
  ]);
};
