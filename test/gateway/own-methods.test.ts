import { describe, expect, it } from "vitest";
import { openLogged } from "../servers/hub-fixture.ts";
import { inProcessFake } from "../servers/hub-fixture.ts";
import { openPipe } from "./open-pipe.ts";

describe("M30 what only some servers understand", () => {
  it.each(["request", "notification"])(
    "the sandbox state reaches those that declare it, as a %s",
    async (kind) => {
      const experimental = { "codex/sandbox-state": { version: "1.0.0" } };
      await using told = await openLogged({ capabilities: { tools: {}, experimental } });
      await using other = await openLogged({});
      await using served = await openPipe({ told: told.entry, other: other.entry });
      const client = await served.connect("legacy");
      expect(client.server).toHaveProperty(["capabilities", "experimental", "codex/sandbox-state"]);
      const method = "codex/sandbox-state/update";
      if (kind === "request") await client.result(client.request(method, { sandboxPolicy: "strict" }));
      else await client.notify(method, { sandboxPolicy: "strict" });
      await client.result(client.call("told__echo"));
      await client.result(client.call("other__echo"));
      const states = (server: typeof told) => server.heard().filter((heard) => heard.method === method);
      expect(states(told)).toMatchObject([{ params: { sandboxPolicy: "strict" } }]);
      expect(states(other)).toEqual([]);
    },
  );

  it("methods of its own pass to the only server of an endpoint, and are unknown where there are several", async () => {
    const on = [{ when: { method: "acme/report" }, do: [{ answer: { pages: 3, "x-unknown": true } }] }];
    await using alone = await openPipe({ one: inProcessFake({ versions: "legacy", on }) });
    const client = await alone.connect("legacy");
    expect(await client.result(client.request("acme/report", { year: 2026 }))).toEqual({
      pages: 3,
      "x-unknown": true,
    });
    await using several = await openPipe({ one: inProcessFake({ on }), two: inProcessFake({}) });
    const other = await several.connect("legacy");
    expect((await other.request("acme/report").answer).error).toMatchObject({ code: -32_601 });
  });
});
