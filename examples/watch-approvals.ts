/**
 * Prints who is asked about calls, what they answer and what is remembered, with the arguments of each call.
 * Run: node examples/watch-approvals.ts
 */
import assert from "node:assert/strict";
import { createHub } from "plugboard";
import type { PlugboardEvent } from "plugboard";
import { fakeStdio } from "plugboard/testing";

await using hub = await createHub(
  { servers: { it: fakeStdio() }, approval: "prompt" },
  {
    events: { arguments: true },
    // A person would be asked here.
    interact: { approve: async () => ({ decision: "allow", remember: "session" }) },
  },
);
const seen: PlugboardEvent[] = [];
const watching = (async () => {
  for await (const event of hub.events()) {
    if (!/^(?:call|question|approval)-/.test(event.type)) continue;
    seen.push(event);
    console.log(JSON.stringify(event));
  }
})();

await hub.callTool("it.echo", { text: "hello", password: "hunter2" });
// Nobody is asked again, until the answer is revoked.
await hub.callTool("it.echo", { text: "hello again" });
await hub.approvals.revoke({ all: true });
await hub.close();
await watching;

const types = seen.map(({ type }) => type);
assert.deepEqual(types, [
  "call-start",
  "question-asked",
  "approval-remembered",
  "question-answered",
  "call-end",
  "call-start",
  "call-end",
  "approval-revoked",
]);
const [first] = seen;
assert(first?.type === "call-start");
assert.deepEqual(first.arguments, { text: "hello", password: "(hidden)" });
