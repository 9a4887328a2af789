import { expect, it } from "vitest";
import { ListServer, hubOf, named } from "../catalog/list-server.ts";

it("a program adds fields to _meta of a call, except those of the protocol", async () => {
  const server = new ListServer({ tools: named("one") });
  const metas: unknown[] = [];
  server.answers.set("tools/call", ({ _meta }) => {
    metas.push(_meta);
    return { content: [] };
  });
  const hub = await hubOf({ it: server.entry }, { env: {} });
  const call = (meta?: Record<string, unknown>) => hub.callTool("it.one", {}, { meta });
  await call({ "example/user": { id: 7 }, "codex/sandbox-state-meta": {} });
  await call({ "io.modelcontextprotocol/protocolVersion": "1", progressToken: 3 });
  await call();
  expect(metas[0]).toMatchObject({ "example/user": { id: 7 } });
  expect(metas[0]).not.toHaveProperty("codex/sandbox-state-meta");
  expect(JSON.stringify(metas[1] ?? {})).not.toMatch(/protocolVersion":"1"|progressToken":3\b/);
  await expect(call({ big: 1n })).rejects.toMatchObject({ code: "arguments-invalid" });
  await expect(hub.callTool("it.one", {}, { meta: [] as never })).rejects.toMatchObject({
    code: "usage-invalid",
  });
});
