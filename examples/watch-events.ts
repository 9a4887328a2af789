/**
 * What a hub tells while a server starts, dies in the middle of a call and is needed again.
 * In a program of your own, import from "plugboard". Run: node examples/watch-events.ts
 */
import assert from "node:assert/strict";
import { createHub, isPlugboardError } from "../src/index.ts";
import { fakeStdio } from "../test/fixtures/fake/index.ts";

await using hub = await createHub({ servers: { fragile: fakeStdio() } });
const seen: string[] = [];
hub.on("connection-changed", ({ from, to, error }) => {
  seen.push(to);
  console.log(`${from} -> ${to}${error ? ` (${error.code}: ${error.message})` : ""}`);
});
const call = (name: string) => hub.callTool(`fragile.${name}`);

// Nothing is started before it is needed.
assert.equal(hub.status()[0]?.state, "idle");
await call("echo");
assert.deepEqual(seen, ["connecting", "connected"]);

// The server may have begun with this call, so it is not repeated: whoever asked is told.
const failure = await call("crash").catch((error: unknown) => error);
assert(isPlugboardError(failure, "server-exited"));
assert.equal(seen.at(-1), "waiting");

// The next call starts it again.
await call("echo");
assert.deepEqual(seen.slice(-2), ["connecting", "connected"]);

await hub.close();
assert.equal(seen.at(-1), "closed");
