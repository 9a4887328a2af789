/**
 * Prints a hub's events while a server starts, crashes during a call and is started again.
 * Run: node examples/watch-events.ts
 */
import assert from "node:assert/strict";
import { createHub, isPlugboardError } from "plugboard";
import { fakeStdio } from "plugboard/testing";

await using hub = await createHub({ servers: { fragile: fakeStdio() } });
const seen: string[] = [];
hub.on("connection-changed", ({ from, to, error }) => {
  seen.push(to);
  console.log(`${from} -> ${to}${error ? ` (${error.code}: ${error.message})` : ""}`);
});
const call = (name: string) => hub.callTool(`fragile.${name}`);

// No server starts before it is needed.
assert.equal(hub.status()[0]?.state, "ready");
await call("echo");
assert.deepEqual(seen, ["connecting", "connected"]);

// The server may have executed part of this call, so the hub does not retry it and reports the error.
const failure = await call("crash").catch((error: unknown) => error);
assert(isPlugboardError(failure, "server-exited"));
assert.equal(seen.at(-1), "waiting");

// The next call starts it again.
await call("echo");
assert.deepEqual(seen.slice(-2), ["connecting", "connected"]);

await hub.close();
assert.equal(seen.at(-1), "closed");
