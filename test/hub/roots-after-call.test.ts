import { expect, it } from "vitest";
import { openHub } from "../servers/hub-fixture.ts";

/** Asks for the roots during a call, answers the call first, and tells what it was answered when it is asked. */
const program = `
const { createInterface } = require("node:readline");
const say = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const told = Promise.withResolvers();
createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (id === "roots") told.resolve(result ? result.roots[0].uri : error.message);
  else if (method === "initialize")
    say({ id, result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "it", version: "1" } } });
  else if (method === "tools/list")
    say({ id, result: { tools: ["look", "tell"].map((name) => ({ name, inputSchema: { type: "object" } })) } });
  else if (method === "tools/call") {
    if (params.name === "look") say({ id: "roots", method: "roots/list" });
    say({ id, result: { content: [{ type: "text", text: params.name === "tell" ? await told.promise : "looked" }] } });
  } else if (id !== undefined) say({ id, error: { code: -32601, message: "Method not found" } });
});`;

it("M63 a server gets the roots although the call during which it asked has ended", async () => {
  const ended = Promise.withResolvers<void>();
  const interact = {
    roots: async () => {
      await ended.promise;
      return [{ uri: "file:///home/ada" }];
    },
  };
  const it = { command: process.execPath, args: ["-e", program], protocol: "legacy" as const };
  await using hub = await openHub({ it }, { interact });
  await hub.callTool("it.look");
  ended.resolve();
  expect((await hub.callTool("it.tell")).content).toEqual([{ type: "text", text: "file:///home/ada" }]);
});
