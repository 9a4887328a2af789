import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createGateway } from "../../src/gateway/index.ts";
import type { Hub } from "../../src/index.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { FakeHttp, Script } from "../fixtures/fake/index.ts";
import { openFake, openFolder, openHub } from "../servers/hub-fixture.ts";
import type { Fields } from "./clients/client.ts";
import { HttpWire } from "./clients/http-wire.ts";
import { openClient } from "./clients/open-client.ts";

const asking: Script = {
  versions: "modern",
  tasks: {},
  tools: [
    { name: "echo", inputSchema: { type: "object" } },
    { name: "failing_job", inputSchema: { type: "object" } },
  ],
  prompts: [{ name: "ask" }],
  on: ["tools/call", "prompts/get"].map((method) => ({
    when: { method, ...(method === "tools/call" && { tool: "echo" }) },
    do: [
      {
        answer: {
          resultType: "input_required",
          inputRequests: {
            pin: {
              method: "elicitation/create",
              params: { mode: "form", message: "PIN?", requestedSchema: { type: "object", properties: {} } },
            },
          },
          requestState: "the-state-of-staging",
        },
      },
    ],
  })),
};

/** A gateway whose only server, `it`, can be replaced by another one of this name. */
async function open() {
  const folder = await openFolder();
  const [staging, production] = [await openFake(asking), await openFake(asking)];
  const store = await openSqliteStore({ path: join(folder.path, "state.sqlite") }, () => undefined);
  const env = { DB_URL: staging.url };
  const approvalsKey = async () => Buffer.alloc(32, 1);
  const hub: Hub = await openHub({ it: { url: "${DB_URL}" } }, { env, store, approvalsKey });
  const gateway = createGateway(hub, { token: "a-token-for-clients-only" });
  const { url } = await gateway.listen();
  const wire = new HttpWire({ url, headers: { authorization: "Bearer a-token-for-clients-only" } });
  const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const client = await openClient("modern", wire, { capabilities: { elicitation: {}, ...tasks } });
  return {
    hub,
    client,
    staging,
    production,
    /** By another entry, or by other values of the same one. */
    async replace(how: "entry" | "values") {
      if (how === "entry") return hub.reload({ servers: { it: { url: production.url } } });
      env.DB_URL = production.url;
      await hub.disconnect("it");
    },
    async [Symbol.asyncDispose]() {
      client.disconnect();
      await gateway.close({ drainMs: 0 });
      await hub.close();
      await store.close();
      await Promise.all([staging.close(), production.close(), folder[Symbol.asyncDispose]()]);
    },
  };
}

const texts = (fake: FakeHttp) =>
  fake.received.map(({ message }) => JSON.stringify(message ?? null)).join("\n");
const inputResponses = { pin: { action: "accept", content: { pin: "0000-secret-pin" } } };

describe.each(["entry", "values"] as const)("M62 after a server was replaced by other %s", (how) => {
  it.each([
    ["a call", "tools/call", { name: "it__echo", arguments: {} }],
    ["a prompt", "prompts/get", { name: "it__ask" }],
  ])("the state and the answers of %s reach nothing else of its name", async (_, method, params) => {
    await using it = await open();
    const { requestState } = await it.client.result(it.client.once(method, params));
    expect(requestState).toBeDefined();
    await it.replace(how);
    const again: Fields = { ...params, requestState, inputResponses };
    const { answer } = it.client.once(method, again);
    expect(JSON.stringify(await answer)).toContain("now runs or contacts something else");
    expect(texts(it.production)).not.toMatch(/the-state-of-staging|secret-pin/);
  });

  it("the state still reaches the server if it is the same one after a reload", async () => {
    await using it = await open();
    const params = { name: "it__echo", arguments: {} };
    const { requestState } = await it.client.result(it.client.once("tools/call", params));
    await it.hub.reload({ servers: { it: { url: "${DB_URL}", callTimeoutMs: 50_000 } } });
    await it.client.result(it.client.once("tools/call", { ...params, requestState, inputResponses }));
    expect(texts(it.staging)).toMatch(/the-state-of-staging.*secret-pin|secret-pin.*the-state-of-staging/);
  });
});

describe.each(["entry", "values"] as const)("M55 after a server was replaced by other %s", (how) => {
  it("its tasks are not asked about at another one", async () => {
    await using it = await open();
    let id = "";
    await it.hub.forwardCall("it.failing_job", { arguments: {} }, { onTask: (task) => (id = task.id) });
    expect(id).not.toBe("");
    await it.replace(how);
    const task = await it.hub.task(id);
    await expect(task.state()).rejects.toMatchObject({ data: { reason: "target-changed" } });
    expect(texts(it.production)).not.toContain("tasks/get");
  });
});

describe("M62 inputs that a person gives while the server is replaced", () => {
  it("reach nothing else of its name", async () => {
    await using staging = await openFake(asking);
    await using production = await openFake(asking);
    const env = { DB_URL: staging.url };
    await using hub = await openHub(
      { it: { url: "${DB_URL}" } },
      {
        env,
        interact: {
          elicit: async () => {
            env.DB_URL = production.url;
            await hub.disconnect("it");
            return { action: "accept", content: { pin: "0000-secret-pin" } };
          },
        },
      },
    );
    await expect(hub.callTool("it.echo", {})).rejects.toMatchObject({ data: { reason: "target-changed" } });
    expect(texts(production)).not.toMatch(/the-state-of-staging|secret-pin/);
  });
});
