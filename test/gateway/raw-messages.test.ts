import { describe, expect, it } from "vitest";
import { openLogged } from "../servers/hub-fixture.ts";
import type { Fields, TestClient } from "./clients/client.ts";
import { openPipe } from "./open-pipe.ts";

/** Everything that means a call, a question or a change of state to a server that is not exact about names. */
const dangerous: [string, Fields][] = [
  ["tools/call", { name: "echo", arguments: { secret: 1 } }],
  ["Tools/Call", { name: "echo" }],
  ["tools/call ", { name: "echo" }],
  ["tools/call/", { name: "echo" }],
  ["notifications/tools/call", { name: "echo" }],
  ["prompts/get", { name: "ask" }],
  ["resources/read", { uri: "fake://readme" }],
  ["Resources/Unsubscribe", { uri: "fake://readme" }],
  ["completion/Complete", {}],
  ["logging/SetLevel", { level: "debug" }],
  ["tasks/cancel ", { taskId: "1" }],
  ["Tasks/Update", { taskId: "1" }],
  ["sampling/createMessage", {}],
  ["initialize/", {}],
  ["notifications/roots/list_changed/", {}],
  ["tools/destroy", {}],
];

const eras = ["legacy", "modern"] as const;

/** A notification as this client sends it. A modern one says who it is, or it is not heard at all. */
async function notify(client: TestClient, method: string, params: Fields): Promise<void> {
  const prefix = "io.modelcontextprotocol";
  const _meta = {
    [`${prefix}/protocolVersion`]: "2026-07-28",
    [`${prefix}/clientInfo`]: { name: "matrix", version: "1" },
    [`${prefix}/clientCapabilities`]: {},
  };
  await client.notify(method, client.era === "modern" ? { ...params, _meta } : params);
}

describe("M80 what a client sends past the methods of the gateway", () => {
  const counts = [1, 2].flatMap((count) => eras.map((era) => [era, count] as const));

  it.each(counts)("no %s notification is a call, with %i servers", async (era, count) => {
    await using one = await openLogged({ versions: "legacy" });
    await using two = await openLogged({ versions: "legacy" });
    const denied = { ...one.entry, tools: { deny: ["echo"] } };
    await using served = await openPipe(count === 1 ? { one: denied } : { one: denied, two: two.entry });
    const client = await served.connect(era);
    for (const [method, params] of dangerous) await notify(client, method, params);
    await notify(client, "notifications/acme/said", { a: 1 });
    await client.result(client.call("one__add", { a: 1, b: 2 }));
    const heard = one.heard().map(({ method }) => method);
    for (const [method] of dangerous.slice(1)) expect(heard).not.toContain(method);
    expect(heard.filter((method) => method === "tools/call")).toHaveLength(1);
    if (count === 1) expect(heard).toContain("notifications/acme/said");
  });

  it.each(counts)(
    "no %s request is a notification or another spelling, with %i servers",
    async (era, count) => {
      await using one = await openLogged({});
      await using two = await openLogged({});
      const servers = count === 1 ? { one: one.entry } : { one: one.entry, two: two.entry };
      await using served = await openPipe(servers);
      const client = await served.connect(era);
      const before = one.heard().length;
      const exact = new Set(["tools/call", "prompts/get", "resources/read"]);
      const asked = dangerous.filter(([method]) => !exact.has(method));
      asked.push(["notifications/acme/said", {}], ["notifications/initialized", {}], ["tasks/list ", {}]);
      for (const [method, params] of asked)
        expect(await client.request(method, params).answer).toMatchObject({ error: { code: -32_601 } });
      expect(one.heard().length).toBe(before);
    },
  );

  it("a batch is no way around", async () => {
    await using one = await openLogged({ versions: "legacy" });
    await using served = await openPipe({ one: one.entry });
    const client = await served.connect("legacy", { revision: "2025-03-26" });
    const batch = dangerous.map(([method, params]) => ({ jsonrpc: "2.0", method, params }));
    await client.wire.send(JSON.stringify(batch), { stream: "aside" });
    await client.result(client.call("one__add", { a: 1, b: 2 }));
    const heard = one.heard().map(({ method }) => method);
    for (const [method] of dangerous.slice(1)) expect(heard).not.toContain(method);
    expect(heard.filter((method) => method === "tools/call")).toHaveLength(1);
  });

  it.each([1, 2])("what one of %i servers declares reaches that one", async (count) => {
    const capabilities = {
      tools: {},
      experimental: { "acme/report": {} },
      extensions: { "com.acme/tools/validate": {} },
    };
    const on = ["acme/report/year", "tools/validate"].map((method) => ({
      when: { method },
      do: [{ answer: { ok: method } }],
    }));
    await using told = await openLogged({ capabilities, on });
    await using other = await openLogged({});
    const servers = count === 1 ? { told: told.entry } : { told: told.entry, other: other.entry };
    await using served = await openPipe(servers);
    for (const era of eras) {
      const client = await served.connect(era);
      for (const method of ["acme/report/year", "tools/validate"])
        expect(await client.result(client.request(method, {}))).toMatchObject({ ok: method });
      await notify(client, "notifications/acme/report/read", {});
      await client.result(client.call("told__echo"));
    }
    const read = (server: typeof told) =>
      server.heard().filter(({ method }) => method === "notifications/acme/report/read");
    expect(read(told)).toHaveLength(2);
    if (count === 2) expect(read(other)).toEqual([]);
  });

  it.each(eras)("nor is what a server says past the questions that a %s client can be asked", async (era) => {
    const said = ["elicitation/Create", "notifications/Message", "tools/call", "notifications/acme/said"];
    const asked = ["elicitation/create ", "Elicitation/Create", "notifications/acme/asked"];
    const inputs = asked.map((method, index) => [String(index), { method, params: {} }]);
    await using one = await openLogged({
      versions: era,
      on: [
        {
          when: { tool: "echo" },
          do: [
            ...said.map((method) => ({ notify: { method, params: {} } })),
            ...(era === "legacy" ? asked.map((method) => ({ request: { method, params: {} } })) : []),
            era === "legacy"
              ? { default: true as const }
              : {
                  answer: {
                    resultType: "input_required",
                    inputRequests: Object.fromEntries(inputs) as Fields,
                    requestState: "s",
                  },
                },
          ],
        },
      ],
    });
    await using served = await openPipe({ one: one.entry });
    const client = await served.connect(era, { capabilities: { elicitation: {} } });
    const answer = await client.call("one__echo").answer;
    if (era === "modern") expect(answer).toMatchObject({ error: { code: -32_021 } });
    expect(client.questions()).toEqual([]);
    const heard = client.seen.filter(({ kind }) => kind === "notification").map(({ method }) => method);
    expect(heard).toEqual(["notifications/acme/said"]);
  });
});
