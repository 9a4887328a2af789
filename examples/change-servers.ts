/**
 * Adds and removes servers while the hub runs, without affecting a call to another server.
 * Run: node examples/change-servers.ts
 */
import assert from "node:assert/strict";
import { createHub } from "plugboard";
import { fakeStdio, startFakeHttp } from "plugboard/testing";

const remote = await startFakeHttp();
const hub = await createHub({ servers: { local: fakeStdio() } });
const states = () => Object.fromEntries(hub.status().map(({ name, state }) => [name, state]));
await hub.connect("local");

// A call that takes a while…
const slow = hub.callTool("local.sleep", { ms: 300 });

// …while a second server is added, used and removed.
await hub.add("remote", { url: remote.url });
assert.deepEqual(states(), { local: "connected", remote: "ready" });
const ping = await hub.callTool("remote.echo", { ok: true });
assert.deepEqual(ping.structuredContent, { ok: true });
console.log(states());
await hub.remove("remote");
assert.deepEqual(states(), { local: "connected" });

const answer = await slow;
console.log(answer.content);

await hub.close();
await remote.close();
