import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { Endpoint } from "../../src/gateway/endpoint.ts";
import { defaultLimits } from "../../src/gateway/http/limits.ts";
import { Ledger, holdLimits } from "../../src/gateway/ledger.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { failure, openHub, openLogged } from "../servers/hub-fixture.ts";
import { openPipe } from "./open-pipe.ts";

const updated = "notifications/resources/updated";
const uri = "fake://one/readme";
const resources = [{ uri, name: "readme" }];
const few = { few: { servers: ["one"] } };

describe.each(["legacy", "modern"] as const)("a %s client of a bundle that changes", (era) => {
  it.each([
    ["removed", {}],
    ["of other servers", { few: { servers: ["two"] } }],
  ])("sees and reaches nothing of the servers that left, when it is %s", async (_, bundles) => {
    const servers = {
      one: fakeStdio({ versions: "legacy", resources, instructions: "Only for the bundle." }),
      two: fakeStdio({ versions: "legacy", resources: [], instructions: "Another one." }),
    };
    await using served = await openPipe(servers, { settings: { bundles: few }, bundle: "few" });
    const client = await served.connect(era);
    await client.result(client.call("one__echo"));
    await served.hub.reload({ servers, bundles });
    const { result, error } = await client.request("tools/list").answer;
    const names = ((result?.["tools"] ?? []) as { name: string }[]).map(({ name }) => name);
    expect(names.filter((name) => name.startsWith("one__"))).toEqual([]);
    if (!("few" in bundles)) expect([names, error === undefined]).toEqual([[], false]);
    for (const name of ["one__echo", ...("few" in bundles ? [] : ["two__echo", "echo"])])
      expect(await client.call(name).answer).toHaveProperty("error");
    const again = () => served.gateway.serveStdio({ input: new PassThrough(), output: new PassThrough() });
    if (!("few" in bundles)) expect(await again().catch(String)).toContain('no bundle "few"');
  });

  it("hears no updates of a resource whose server left, and can subscribe again when it is back", async () => {
    await using one = await openLogged({ versions: "legacy", resources });
    const servers = { one: one.entry, two: fakeStdio({ versions: "legacy", resources: [] }) };
    await using served = await openPipe(servers, { settings: { bundles: few }, bundle: "few" });
    const client = await served.connect(era);
    await client.listen({ uris: [uri] });
    const change = () => served.hub.callTool("one.change", { what: uri });
    await change();
    await client.sees("the update", ({ method }) => method === updated);
    await served.hub.reload({ servers, bundles: { few: { servers: ["two"] } } });
    client.seen.length = 0;
    await change();
    await served.hub.callTool("one.echo");
    await client.result(client.request("tools/list"));
    expect(client.notifications(updated)).toEqual([]);
    const asked = (method: string) => one.heard().filter((message) => message.method === method).length;
    expect([asked("resources/subscribe"), asked("resources/unsubscribe")]).toEqual([1, 1]);
    await served.hub.reload({ servers, bundles: few });
    await client.listen({ uris: [uri] });
    await change();
    await client.sees("the next update", ({ method }) => method === updated);
  });
});

it("an endpoint whose bundle is gone has no servers, and greets with nothing", async () => {
  const servers = { one: fakeStdio({ versions: "legacy", instructions: "Only for the bundle." }) };
  await using hub = await openHub(servers, {}, { bundles: few });
  const ledger = new Ledger(holdLimits(defaultLimits));
  const endpoint = new Endpoint({ hub, bundle: "few", names: undefined, capabilities: {}, ledger });
  await hub.callTool("one.echo");
  expect(JSON.stringify(await endpoint.describe())).toContain("Only for the bundle.");
  await hub.reload({ servers });
  expect([[...endpoint.servers()], endpoint.onlyServer()]).toEqual([[], undefined]);
  expect(JSON.stringify(await endpoint.describe())).not.toContain("Only for the bundle.");
  endpoint.close();
});

describe("a view of a bundle that changes", () => {
  it("is told that its subscription is over, and hears neither events nor notifications", async () => {
    const servers = { one: fakeStdio({ versions: "legacy", resources }) };
    await using hub = await openHub(servers, {}, { bundles: few });
    const view = hub.view({ bundle: "few" });
    const heard: unknown[] = [];
    const { promise, resolve } = Promise.withResolvers<string>();
    await view.subscribeResource("one", uri, (update) => heard.push(update), {
      onRefused: ({ code }) => resolve(code),
    });
    view.onNotification((one) => heard.push(one));
    view.on("server-log", (one) => heard.push(one));
    view.on("call-start", (one) => heard.push(one));
    await hub.reload({ servers });
    expect(await promise).toBe("server-unknown");
    await hub.callTool("one.change", { what: uri });
    expect(heard).toEqual([]);
    expect(await failure(view.callTool("one.echo"))).toMatchObject({ code: "server-unknown" });
  });
});
