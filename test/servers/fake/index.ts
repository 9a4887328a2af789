/**
 * A scriptable MCP server for tests: every revision, every transport, and every way to misbehave.
 *
 *     const fake = await startFakeHttp({ versions: "legacy", on: [
 *       { when: { tool: "add", nth: 1 }, do: [{ default: true, cut: 0.5 }, { drop: "reset" }] },
 *     ] });
 *     const entry = fakeStdio({ versions: ["2025-06-18"], start: [{ raw: "a banner\n" }] });
 */
export { startFakeHttp } from "./fake-http.ts";
export type { FakeHttp, Received } from "./fake-http.ts";
export { LEGACY_REVISIONS, MODERN_REVISIONS } from "./protocol.ts";
export type { Bytes, Delivery, HttpAnswer, LogLine, Revision, Rule, Script, Step, When } from "./script.ts";
export { fakeStdio, readFakeLog } from "./stdio-command.ts";
