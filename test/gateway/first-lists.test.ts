import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { inProcessFake } from "../servers/hub-fixture.ts";
import type { Fields, TestClient } from "./clients/client.ts";
import { openPipe } from "./open-pipe.ts";

async function serversListed(client: TestClient): Promise<Set<string>> {
  const { tools } = (await client.result(client.request("tools/list"))) as { tools: Fields[] };
  return new Set(tools.map(({ name }) => String(name).split("__")[0] ?? ""));
}

describe.each([true, false])(
  "M80 the first list after a start without snapshots (keepFresh: %s)",
  (keepFresh) => {
    it("has the tools of servers that start, although nobody has used them yet", async () => {
      await using served = await openPipe(
        { one: fakeStdio({}), two: fakeStdio({}) },
        { isWarm: false, hub: { keepFresh } },
      );
      const client = await served.connect("legacy");
      expect(await serversListed(client)).toEqual(new Set(["one", "two"]));
    });

    it("does not wait for a server that hangs, and tells when its tools are there", async () => {
      const until = { waitFor: { method: "completion/complete" } };
      const hanging = fakeStdio({ on: [{ when: { method: "tools/list" }, do: [until, { default: true }] }] });
      await using served = await openPipe(
        { one: inProcessFake({}), hanging },
        { isWarm: false, hub: { keepFresh } },
      );
      const client = await served.connect("legacy");
      expect(await serversListed(client)).toEqual(new Set(["one"]));
      const params = { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "" } };
      const changed = "notifications/tools/list_changed";
      const release = () => served.hub.request("completion/complete", params, { server: "hanging" });
      const told = client.sees(changed, ({ method }) => method === changed);
      // The server may not have been asked for its tools yet.
      const isListed = async () => (await serversListed(client)).has("hanging");
      for (let attempt = 0; attempt < 200 && !(await isListed()); attempt++) await release();
      await told;
      expect(await serversListed(client)).toEqual(new Set(["one", "hanging"]));
    });

    it("is told to be read again when a server restarts with other tools", async () => {
      await using folder = await mkdtempDisposable(join(tmpdir(), "plugboard-"));
      const path = join(folder.path, "script.json");
      const other = { name: "other", inputSchema: { type: "object" } };
      const script = (tools?: object[]) => writeFile(path, JSON.stringify({ versions: "legacy", tools }));
      await script();
      const { command, args, env } = fakeStdio();
      const restarting = { command, args: [args[0] ?? "", path], env };
      await using served = await openPipe({ restarting }, { isWarm: false, hub: { keepFresh } });
      const client = await served.connect("legacy");
      const names = async () => {
        const { tools } = (await client.result(client.request("tools/list"))) as { tools: Fields[] };
        return tools.map(({ name }) => name);
      };
      expect(await names()).toContain("restarting__add");
      await script([other]);
      const changed = "notifications/tools/list_changed";
      const before = client.notifications(changed).length;
      const pid = served.hub.status()[0]?.pid ?? 0;
      process.kill(pid, "SIGKILL");
      const isTold = () => client.notifications(changed).length > before;
      const told = client.sees(changed, isTold);
      // A server that died starts again with its next use, when its death has been noticed.
      for (let attempt = 0; attempt < 200 && !isTold(); attempt++)
        await client.call("restarting__add", { a: 1, b: 2 }).answer;
      await told;
      expect(await names()).toEqual(["restarting__other"]);
    });

    it("has the tools of a server that has just connected, although those of another are known", async () => {
      await using served = await openPipe(
        { one: fakeStdio({}), two: fakeStdio({}) },
        { isWarm: false, hub: { keepFresh } },
      );
      await served.hub.view({ servers: ["one"] }).tools();
      await served.hub.connect("two");
      const client = await served.connect("modern");
      expect(await serversListed(client)).toEqual(new Set(["one", "two"]));
    });

    it("leaves out a server that is switched off, and has it again when it is on", async () => {
      await using served = await openPipe(
        { one: inProcessFake({}), two: inProcessFake({}) },
        { isWarm: false, hub: { keepFresh } },
      );
      const client = await served.connect("legacy");
      expect(await serversListed(client)).toEqual(new Set(["one", "two"]));
      await served.hub.disable("two");
      expect(await serversListed(client)).toEqual(new Set(["one"]));
      served.hub.enable("two");
      expect(await serversListed(client)).toEqual(new Set(["one", "two"]));
    });
  },
);

describe("M80 the handshake", () => {
  it("has the instructions of servers that are not connected yet, from an earlier run", async () => {
    const store = createMemoryStore();
    const servers = { one: fakeStdio({ instructions: "Ask twice." }) };
    {
      await using earlier = await openPipe(servers, { hub: { store } });
      await earlier.connect("legacy");
    }
    await using served = await openPipe(servers, { isWarm: false, hub: { store } });
    const client = await served.connect("legacy");
    expect(client.server).toMatchObject({ instructions: "Ask twice." });
  });
});
