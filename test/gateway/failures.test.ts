import { describe, expect, it } from "vitest";
import { failedCall } from "../../src/gateway/failure.ts";
import { errorTable } from "../../src/host.ts";
import { PlugboardError, createHub } from "../../src/index.ts";
import type { ErrorCode } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { openPipe } from "./open-pipe.ts";

const clients = [
  ["legacy", {}],
  ["legacy", { elicitation: {} }],
  ["modern", {}],
  ["modern", { elicitation: {} }],
] as const;

describe.each(clients)("M80 a %s client with %j", (era, capabilities) => {
  it("gets a result that its model can act on where a server dies in the middle of a call", async () => {
    await using served = await openPipe({ one: fakeStdio({}) });
    const client = await served.connect(era, { capabilities });
    const result = await client.result(client.call("one__crash"));
    expect(result).toMatchObject({
      isError: true,
      _meta: { "plugboard/error": { code: "server-exited", server: "one" } },
      ...(era === "modern" && { resultType: "complete" }),
    });
  });

  it("gets the server's own error with its code and data", async () => {
    const error = { code: -32_099, message: "No", data: { why: ["x"] } };
    const on = [{ when: { tool: "echo" }, do: [{ error }] }];
    await using served = await openPipe({ one: fakeStdio({ on }) });
    const client = await served.connect(era, { capabilities });
    expect((await client.call("one__echo").answer).error).toEqual(error);
  });

  it.each([[null], [[]], ["text"]])("gets an error of the protocol where arguments are %j", async (args) => {
    await using served = await openPipe({ one: fakeStdio({}) });
    const client = await served.connect(era, { capabilities });
    const { error } = await client.once("tools/call", { name: "one__echo", arguments: args }).answer;
    expect(error).toMatchObject({ code: -32_602, message: "`arguments` must be an object." });
  });

  it("gets the mistakes in its arguments, without names and commands that it does not know", async () => {
    await using served = await openPipe({ one: fakeStdio({}) });
    const client = await served.connect(era, { capabilities });
    const result = await client.result(client.call("one__add", { a: "x" }));
    expect(result).toMatchObject({
      isError: true,
      _meta: { "plugboard/error": { code: "arguments-invalid" } },
    });
    expect(JSON.stringify(result)).not.toMatch(/mcp__one|plugboard tools/);
  });
});

describe.each(["legacy", "modern"] as const)("M60 a %s client", (era) => {
  it("is told that a rule denies its call, by the arguments that it sent, without places on this machine", async () => {
    const rules = [{ when: { "/text": "no*" }, mode: "deny" as const }];
    await using served = await openPipe({ one: { ...fakeStdio({}), approval: { rules } } });
    const client = await served.connect(era);
    expect(await client.result(client.call("one__echo", { text: "yes" }))).not.toHaveProperty("isError");
    const denied = await client.result(client.call("one__echo", { text: "not" }));
    expect(denied).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("the configuration denies it") as string }],
      _meta: { "plugboard/error": { code: "approval-denied", server: "one", executed: "no" } },
    });
    expect(JSON.stringify(denied)).not.toContain("approval.rules");
  });
});

describe("what a client's model reads of an error", () => {
  it.each(Object.keys(errorTable) as ErrorCode[])("is no hint for people: %s", (code) => {
    const error = new PlugboardError(code, "It failed.", { server: "one", tool: "mcp__one__add" });
    expect(JSON.stringify(failedCall(error))).not.toContain(JSON.stringify(error.hint).slice(1, -1));
    expect(JSON.stringify(failedCall(error))).not.toMatch(/`|plugboard (?!\/)|terminal/);
  });

  it("is what it can do itself", () => {
    const error = new PlugboardError("usage-invalid", "There is no such part", { advice: "Leave it out." });
    expect(error.hint).toBe("Leave it out.");
    expect(failedCall(error)).toMatchObject({ error: { message: "There is no such part. Leave it out." } });
  });

  it("does not say how to get around the person who denied its call, called directly or through call_tool", async () => {
    const interact = { approve: async () => ({ decision: "deny" as const, hint: "Use --yes." }) };
    const servers = { one: { ...fakeStdio({}), approval: "prompt" as const } };
    await using hub = await createHub({ servers }, { env: {}, interact });
    const meta = await hub.metaTools();
    const denied = await meta.call("call_tool", { name: "mcp__one__count", arguments: {} });
    expect(JSON.stringify(denied)).toMatch(/was not approved: it was denied\."/);
    const error: unknown = await hub.callTool("mcp__one__count").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "approval-denied", hint: "Use --yes." });
    expect(JSON.stringify(failedCall(error))).not.toContain("--yes");
  });
});

describe("M60 a turn that a person ended", () => {
  it("is an error of the protocol that says so, not a result for a model", () => {
    const data = { reason: "turn-cancelled" } as const;
    const error = new PlugboardError("call-cancelled", "Cancelled.", { executed: "no", data });
    expect(failedCall(error)).toMatchObject({
      error: { code: -31_020, data: { code: "call-cancelled", executed: "no", reason: "turn-cancelled" } },
    });
  });
});
