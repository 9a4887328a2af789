import { describe, expect, it } from "vitest";
import { createHub } from "../../src/index.ts";
import type { Hub } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { inProcessFake } from "../servers/hub-fixture.ts";

const object = { type: "object" };
const tool = (name: string, extra: object = {}) => ({ name, inputSchema: object, ...extra });
const listing = (step: object): Script => ({
  versions: "legacy",
  on: [{ when: { method: "tools/list" }, do: [step as never] }],
});

/** The names of the available tools of the server under test. */
const offered = async (hub: Hub) =>
  (await hub.tools()).filter(({ server }) => server === "it").map(({ name }) => name);
const aside = async (hub: Hub) =>
  (await hub.allTools())
    .filter(({ server, status }) => server === "it" && status === "set-aside")
    .map(({ name, because }) => `${name}: ${because}`);
const state = (hub: Hub) => hub.status().find(({ name }) => name === "it");

const nested = (depth: number) => {
  let schema: object = { type: "string" };
  for (let level = 0; level < depth; level++) schema = { type: "object", properties: { a: schema } };
  return schema;
};
const doubling: [string, object][] = Array.from({ length: 25 }, (_, i) => [
  `d${i}`,
  { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
]);
const bomb = {
  type: "object",
  $defs: Object.fromEntries([...doubling, ["d25", { type: "object" }]]),
  $ref: "#/$defs/d0",
};

type Row = [fault: string, script: Script, check: (hub: Hub) => Promise<void>];

const rows: Row[] = [
  [
    "47 the list is an error although tools are declared",
    listing({ error: { code: -32601, message: "no such method" } }),
    async (hub) => {
      expect(await offered(hub)).toEqual([]);
      expect(state(hub)).toMatchObject({
        state: "degraded",
        message: expect.stringContaining("no such method"),
      });
    },
  ],
  [
    "47 the list is no list",
    listing({ answer: { tools: "many" } }),
    async (hub) => {
      expect(await offered(hub)).toEqual([]);
      expect(state(hub)).toMatchObject({ state: "degraded" });
    },
  ],
  [
    "48 entries that are no tools",
    listing({ answer: { tools: [null, 5, "x", [], {}, { name: 7 }, tool("good")] } }),
    async (hub) => {
      expect(await offered(hub)).toEqual(["good"]);
    },
  ],
  [
    "49 the same cursor again and again",
    listing({ answer: { tools: [tool("x")], nextCursor: "c" } }),
    async (hub) => {
      expect(await offered(hub)).toEqual([]);
      expect(state(hub)).toMatchObject({ message: expect.stringContaining("in circles") });
    },
  ],
  [
    "53 two tools of one name",
    { tools: [tool("x"), tool("x")] },
    async (hub) => {
      expect(await offered(hub)).toEqual(["x"]);
      expect(await aside(hub)).toHaveLength(1);
    },
  ],
  [
    "55 names that contain the separator",
    { tools: [tool("a__b"), tool("b"), tool("_c"), tool("")] },
    async (hub) => {
      expect((await offered(hub)).sort()).toEqual(["_c", "a__b", "b"]);
      const [id = ""] = (await hub.tools()).filter(({ name }) => name === "a__b").map((one) => one.id);
      expect((await hub.explainTool(id)).name).toBe("a__b");
    },
  ],
  [
    "56 names that are prototypes, emoji, spaces, or endless",
    {
      tools: [tool("__proto__"), tool("constructor"), tool("🦊"), tool("with space"), tool("n".repeat(300))],
    },
    async (hub) => {
      expect(await offered(hub)).toHaveLength(5);
      const ids = (await hub.tools()).map(({ id }) => id);
      expect(ids.every((id) => /^[A-Za-z0-9_-]{1,64}$/.test(id))).toBe(true);
      expect(new Set(ids).size).toBe(ids.length);
    },
  ],
  [
    "57 names that differ only in case",
    { tools: [tool("get"), tool("Get"), tool("GET")] },
    async (hub) => {
      expect((await offered(hub)).sort()).toEqual(["GET", "Get", "get"]);
    },
  ],
  [
    "58 schemas that are missing or of the wrong kind",
    {
      tools: [
        { name: "none" },
        { name: "null", inputSchema: null },
        { name: "true", inputSchema: true },
        { name: "text", inputSchema: "object" },
        { name: "list", inputSchema: { type: "array" } },
        tool("good"),
      ] as never,
    },
    async (hub) => {
      expect(await offered(hub)).toEqual(["good"]);
      expect(await aside(hub)).toHaveLength(5);
    },
  ],
  [
    "59 schemas that refer to themselves",
    {
      tools: [
        tool("echo", {
          inputSchema: {
            type: "object",
            properties: { child: { $ref: "#" }, other: { $ref: "#/$defs/a" } },
            $defs: {
              a: { $ref: "#/$defs/b" },
              b: { type: "object", properties: { a: { $ref: "#/$defs/a" } } },
            },
          },
        }),
      ],
    },
    async (hub) => {
      expect((await hub.callTool("it.echo", { child: { child: {} }, other: { a: {} } })).isError).toBeFalsy();
      await expect(hub.callTool("it.echo", { child: { child: 5 } })).rejects.toMatchObject({
        code: "arguments-invalid",
      });
    },
  ],
  [
    "60 a reference to the network",
    {
      tools: [
        tool("far", {
          inputSchema: { type: "object", properties: { a: { $ref: "http://127.0.0.1:9/schema.json" } } },
        }),
        tool("good"),
      ],
    },
    async (hub) => {
      expect(await offered(hub)).toEqual(["good"]);
    },
  ],
  [
    "61 schemas that explode: depth, doubling, a crowd of properties",
    {
      tools: [
        tool("deep", { inputSchema: nested(500) }),
        tool("echo", { inputSchema: bomb }),
        tool("wide", {
          inputSchema: {
            type: "object",
            properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, {}])),
          },
        }),
        tool("good"),
      ],
    },
    async (hub) => {
      expect(await offered(hub)).toContain("good");
      expect((await aside(hub)).join()).toContain("deep");
      // The doubling schema may be accepted or rejected, but judging it and calling the tool must end.
      await hub
        .callTool("it.echo", { a: 1 })
        .catch((error: unknown) =>
          expect(error).toMatchObject({ code: expect.stringMatching(/arguments-invalid|tool-hidden/) }),
        );
    },
  ],
  [
    "62 a pattern that backtracks for ever elsewhere",
    {
      tools: [
        tool("echo", {
          inputSchema: { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } },
        }),
      ],
    },
    async (hub) => {
      await expect(hub.callTool("it.echo", { a: `${"a".repeat(5_000)}b` })).rejects.toMatchObject({
        code: "arguments-invalid",
      });
      expect((await hub.callTool("it.echo", { a: "aaa" })).isError).toBeFalsy();
    },
  ],
  [
    "63 a description of five megabytes",
    { tools: [tool("long", { description: "d".repeat(5_000_000) })] },
    async (hub) => {
      const [long] = (await hub.tools()).filter(({ server }) => server === "it");
      expect(long?.description?.length).toBeLessThan(40_000);
    },
  ],
  [
    "66 a tool that is gone when it is called",
    {
      tools: [tool("echo")],
      on: [
        {
          when: { tool: "echo" },
          do: [{ set: { tools: [] } }, { error: { code: -32602, message: "Unknown tool" } }],
        },
      ],
    },
    async (hub) => {
      await expect(hub.callTool("it.echo")).rejects.toMatchObject({
        code: "arguments-invalid",
        message: expect.stringContaining("no longer has this tool"),
      });
    },
  ],
  [
    "69 media that is not what it says",
    {
      tools: [tool("echo")],
      on: [
        {
          when: { tool: "echo" },
          do: [
            {
              answer: {
                content: [
                  { type: "image", data: "%%% not base64", mimeType: "text/html" },
                  { type: "audio", data: 5 },
                  { type: "nonsense" },
                ],
              },
            },
          ],
        },
      ],
    },
    async (hub) => {
      expect((await hub.callTool("it.echo")).content).toHaveLength(3);
    },
  ],
  [
    "70 resource addresses that try something",
    {
      resources: [
        { uri: "file:///../../etc/passwd", name: "up" },
        { uri: "javascript:alert(1)", name: "script" },
        { uri: `x://${"y".repeat(100_000)}`, name: "long" },
      ] as never,
    },
    async (hub) => {
      expect((await hub.resources()).filter(({ server }) => server === "it")).toHaveLength(3);
      await hub
        .readResource("it", "file:///../../etc/passwd")
        .catch((error: unknown) => expect(error).toMatchObject({ server: "it" }));
    },
  ],
];

describe("M41 M43 faults in lists and schemas", () => {
  it.each(rows)("%s, and the other server is not affected", async (_, script, check) => {
    await using hub = await createHub({ servers: { it: inProcessFake(script), neighbour: fakeStdio({}) } });
    const neighbour = async () =>
      expect((await hub.callTool("mcp__neighbour__add", { a: 1, b: 2 })).structuredContent).toEqual({
        sum: 3,
      });
    await neighbour();
    await check(hub);
    await neighbour();
  });
});
