/** `plugboard/testing`: what our own tests log in to, for the tests of others. See docs/testing.md. */
export * from "./index.ts";
export { type FakeHttp, type Received, type Script, startFakeHttp } from "../fake/index.ts";
