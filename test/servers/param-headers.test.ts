import { describe, it } from "vitest";
import type { HubOptions, Interact } from "../../src/index.ts";
import type { FakeHttp, Step } from "../fixtures/fake/index.ts";
import { failure, openFake, openHub } from "./hub-fixture.ts";

const region = { type: "string" };
const plain = echo({ region });
const required = echo({ region: { ...region, "x-mcp-header": "Region" } });

function echo(properties: object, more: object = {}) {
  return { name: "echo", inputSchema: { type: "object", properties }, ...more };
}

function mismatch(id: string | null): Step {
  const error = { code: -32_020, message: "Bad Request: the Mcp-Param-Region header is absent" };
  return { http: { status: 400, json: { jsonrpc: "2.0", id, error } } };
}

const sent = (fake: FakeHttp) =>
  fake.received
    .filter(({ message }) => message?.["method"] === "tools/call")
    .map(({ headers }) => headers["mcp-param-region"]);

describe.concurrent("M20 a parameter that a modern server wants as a header is sent as one", () => {
  const ways: [string, object, HubOptions][] = [
    ["always", {}, {}],
    ["with a `toolFilter`", {}, { toolFilter: () => true }],
    ["where callers do not share", { isolation: "caller" }, {}],
    ["where every call has a connection of its own", { isolation: "call" }, {}],
    ["by a tool that is renamed", { tools: { rename: { echo: "say" } } }, {}],
  ];
  it.for(ways)("%s", async ([, entry, options], { expect }) => {
    await using fake = await openFake({ versions: "modern", tools: [required] });
    await using hub = await openHub({ it: { url: fake.url, ...entry } }, options);
    const view = hub.view({ caller: "ada" });
    const [tool] = await view.tools();
    await view.callTool(tool?.id ?? "", { region: "eu" });
    await view.forwardCall(tool?.id ?? "", { arguments: { region: "us" } });
    expect(sent(fake)).toEqual(["eu", "us"]);
  });

  it.for([["$id"], [null]] as const)(
    "after the server has begun to want it and refused the call (id %s)",
    async ([id], { expect }) => {
      await using fake = await openFake({ versions: "modern", tools: [plain] });
      await using hub = await openHub({ it: { url: fake.url } });
      await hub.tools();
      fake.set({ tools: [required], on: [{ when: { tool: "echo", nth: [1, 3] }, do: [mismatch(id)] }] });
      expect(await hub.callTool("it.echo", { region: "eu" })).toMatchObject({
        structuredContent: { region: "eu" },
      });
      expect(sent(fake)).toEqual([undefined, "eu"]);
      expect(await hub.forwardCall("it.echo", { arguments: { region: "us" } })).toMatchObject({
        result: { structuredContent: { region: "us" } },
      });
      expect(sent(fake)).toEqual([undefined, "eu", "us", "us"]);
    },
  );

  it("only once: a server that refuses again has the last word", async ({ expect }) => {
    await using fake = await openFake({
      versions: "modern",
      tools: [required],
      on: [{ when: { tool: "echo" }, do: [mismatch("$id")] }],
    });
    await using hub = await openHub({ it: { url: fake.url } });
    const error = await failure(hub.callTool("it.echo", { region: "eu" }));
    expect(error).toMatchObject({ code: "server-error", data: { rpcCode: -32_020 } });
    expect(sent(fake)).toEqual(["eu", "eu"]);
  });

  it("never for a tool that is another one by now: it is judged again before it is called", async ({
    expect,
  }) => {
    const asked: string[] = [];
    const interact: Interact = {
      approve: async ({ tool }) => {
        asked.push(tool);
        return { decision: "deny" };
      },
    };
    await using fake = await openFake({
      versions: "modern",
      tools: [echo({ region }, { annotations: { readOnlyHint: true } })],
    });
    await using hub = await openHub({ it: { url: fake.url } }, { interact });
    await hub.tools();
    fake.set({
      tools: [
        echo({ region: { ...region, "x-mcp-header": "Region" } }, { annotations: { destructiveHint: true } }),
      ],
      on: [{ when: { tool: "echo", nth: 1 }, do: [mismatch("$id")] }],
    });
    const error = await failure(hub.callTool("it.echo", { region: "eu" }, { approval: "auto" }));
    expect(error.code).toBe("approval-denied");
    expect(asked).toHaveLength(1);
    expect(sent(fake)).toHaveLength(1);
  });
});
