import { expect, it } from "vitest";
import { add, browser, hubAt, openScene, refusal } from "./oauth-fixture.ts";

async function openSse() {
  const scene = await openScene({}, { requires: { all: ["read"], tools: { add: ["write"] } } });
  const { server, credentials } = scene;
  server.set({ resource: server.sseUrl });
  const hub = await hubAt(server.sseUrl, { type: "sse" }, { credentials });
  await hub.login("issues", browser());
  return { ...scene, login: hub };
}

it("rights that are missing over SSE are named, and are there after a login that asks for them", async () => {
  const { login: hub } = await openSse();
  const error = await refusal(add(hub));
  expect(error).toMatchObject({
    code: "auth-failed",
    data: { reason: "insufficient-scope", scopes: expect.arrayContaining(["write"]) },
  });
  expect(error.hint).toMatch(/^Run `plugboard login issues --scopes '.*\+write.*'`\.$/);
  await hub.login("issues", { scopes: ["+write"], ...browser() });
  expect(await add(hub)).toEqual({ sum: 3 });
});

it("another refusal over SSE keeps its status, and the connection", async () => {
  const { login: hub, server } = await openSse();
  await hub.tools();
  server.set({ faults: { mcp: { times: 1, answer: { status: 403, body: "not you" } } } });
  expect(await refusal(add(hub))).toMatchObject({ data: { status: 403 } });
  expect(hub.status()).toMatchObject([{ state: "connected" }]);
});
