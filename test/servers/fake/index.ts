/** A scriptable MCP server for tests: every revision, every transport, and every way to misbehave. */
export { startFakeHttp } from "./fake-http.ts";
export type { FakeHttp, Received } from "./fake-http.ts";
export { LEGACY_REVISIONS, MODERN_REVISIONS } from "./protocol.ts";
export type { Bytes, Delivery, HttpAnswer, LogLine, Revision, Rule, Script, Step, When } from "./script.ts";
export { fakeStdio } from "./stdio-command.ts";
