import { describe, expect, it } from "vitest";
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
