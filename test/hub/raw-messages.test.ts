import { describe, expect, it } from "vitest";
import { failure, openHub, openLogged } from "../servers/hub-fixture.ts";

/** What changes something, speaks for others, or gets around a rule, and ways to spell it. */
const refused = [
  "tools/call",
  "Tools/Call",
  "tools/call ",
  "tools/call/",
  "prompts/get ",
  "Prompts/List",
  "completion/complete/",
  "initialize",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
  "subscriptions/listen",
  "tasks/list",
  "tasks/get",
  "tasks/result",
  "tasks/update",
  "tasks/cancel",
  "sampling/createMessage",
  "codex/sandbox-state/update",
];

describe("M81 a raw message of the library", () => {
  it("is none that has a function which follows the rules, whatever its spelling", async () => {
    await using server = await openLogged({});
    await using hub = await openHub({ it: server.entry });
    await hub.request("ping", {}, { server: "it" });
    const before = server.heard().length;
    for (const method of [...refused, "notifications/acme/said", "notifications/tools/call"])
      for (const view of [hub, hub.view({ caller: "ada" })])
        expect(await failure(view.request(method, {}, { server: "it" }))).toMatchObject({
          code: "usage-invalid",
          hint: expect.any(String) as string,
        });
    const said = [
      "prompts/get",
      "resources/read",
      "ping",
      "notifications/cancelled",
      "notifications/message",
    ];
    for (const method of [
      ...refused,
      ...said,
      "Notifications/Initialized",
      "notifications/roots/list_changed ",
    ])
      expect(await failure(hub.notify("it", method))).toMatchObject({ code: "usage-invalid" });
    expect(server.heard()).toHaveLength(before);
  });

  it("passes if it only reads, or is the server's own", async () => {
    const methods = ["acme/report", "tools/validate"];
    const on = methods.map((method) => ({ when: { method }, do: [{ answer: { ok: true } }] }));
    const capabilities = { tools: {}, resources: {}, experimental: { "tools/validate": {} } };
    await using server = await openLogged({ versions: "legacy", capabilities, on });
    await using other = await openLogged({ on });
    await using hub = await openHub({ it: server.entry, other: other.entry });
    for (const method of ["ping", "tools/list", "resources/list", ...methods])
      expect(await hub.request(method, {}, { server: "it" })).toHaveProperty("result");
    for (const method of ["notifications/acme/said", "acme/told", "notifications/tools/validate/done"])
      await hub.notify("it", method);
    await hub.request("ping", {}, { server: "it" });
    expect(server.heard().map(({ method }) => method)).toEqual(
      expect.arrayContaining(["notifications/acme/said", "acme/told", "notifications/tools/validate/done"]),
    );
    // A name that belongs to the protocol passes only to a server that declares it.
    expect(await failure(hub.request("tools/validate", {}, { server: "other" }))).toMatchObject({
      code: "usage-invalid",
      message: expect.stringContaining("does not declare") as string,
    });
  });
});
