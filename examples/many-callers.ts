/**
 * One hub for several people: each view has its own caller and its own answers, and calls can be passed on untouched.
 * Run: node examples/many-callers.ts
 */
import assert from "node:assert/strict";
import { createHub, type Interact } from "plugboard";
import { fakeStdio } from "plugboard/testing";

await using hub = await createHub({ servers: { forms: fakeStdio({ versions: "legacy" }) } });

/** Fills every form in with the same name. */
const answering = (name: string): Interact => ({
  elicit: async () => ({ action: "accept", content: { name } }),
});
const ada = hub.view({ caller: "ada", interact: answering("Ada") });
const grace = hub.view({ caller: "grace", interact: answering("Grace") });

// A question is answered by whoever made the call.
for (const [view, name] of [[ada, "Ada"] as const, [grace, "Grace"] as const]) {
  const { structuredContent } = await view.callTool("forms.elicit");
  assert.deepEqual(structuredContent, { answers: [{ action: "accept", content: { name } }] });
}

// A program between a client and the servers passes calls on: the server's own answer, with every rule in force.
const answer = await ada.forwardCall("forms.echo", {
  arguments: { n: 1 },
  _meta: { "example.com/trace": "t1" },
});
assert("result" in answer);
console.log(answer.result["structuredContent"]);

// What happened, and who did it.
for (const { call, tool, caller, outcome } of hub.calls())
  console.log(`${call} ${tool} by ${caller}: ${outcome}`);
assert.deepEqual(
  hub.calls().map(({ caller }) => caller),
  ["ada", "grace", "ada"],
);
