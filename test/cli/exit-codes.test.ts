import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { errorTable } from "../../src/host.ts";
import type { ErrorCode } from "../../src/index.ts";
import { fakeStdio, startFakeHttp } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";

interface Failing {
  code: ErrorCode;
  config(): Promise<object>;
  isUsable?: boolean;
  /** Instead of the user's own file. */
  file?: string;
  policy?: object;
}

const failing: Failing = { code: "internal", config: async () => ({}) };

/** Why a server fails, how it is configured, and the code of the error. */
const failures: Record<string, Failing> = {
  "a refused credential": {
    code: "auth-failed",
    config: async () => ({ url: await answering(401), headers: { Authorization: "Bearer abc" } }),
  },
  "a refused credential without rights": {
    code: "auth-failed",
    config: async () => ({ url: await answering(403), headers: { Authorization: "Bearer abc" } }),
  },
  "a missing login": { code: "auth-required", config: async () => ({ url: await answering(401) }) },
  "nobody at its address": {
    code: "connection-lost",
    config: async () => ({ url: `http://127.0.0.1:${await closedPort()}/mcp` }),
  },
  "an address of something else": {
    code: "unexpected-response",
    config: async () => ({ url: await answering(404) }),
  },
  "a program that ends": {
    code: "server-exited",
    config: async () => fakeStdio({ start: [{ exit: 3 }] }),
  },
  "a program that is not there": {
    code: "spawn-failed",
    config: async () => ({ command: "no-such-program" }),
  },
  "a program that is too slow": {
    code: "start-timeout",
    config: async () => ({ ...fakeStdio({ start: [{ silent: true }] }), startupTimeoutMs: 300 }),
  },
  "a mistake in its entry": {
    code: "config-invalid",
    isUsable: false,
    config: async () => ({ command: "x", url: "https://x" }),
  },
  "a missing variable": {
    code: "value-missing",
    isUsable: false,
    config: async () => ({ command: "x", args: ["${NO_SUCH}"] }),
  },
  "a switch that is off": {
    code: "server-disabled",
    isUsable: false,
    config: async () => ({ command: "x", enabled: false }),
  },
  "nobody's trust": {
    code: "untrusted",
    isUsable: false,
    file: "project/.mcp.json",
    config: async () => ({ command: "x" }),
  },
  "a policy against it": {
    code: "policy-denied",
    isUsable: false,
    policy: { deniedMcpServers: [{ serverName: "it" }] },
    config: async () => ({ command: "x" }),
  },
};

/** Verbs that use one server. */
const verbs = [
  "tools it",
  "resources it",
  "prompts it",
  "call it.echo",
  "read it fake://x",
  "prompt it.hello",
  "tools it.echo",
];

/** Verbs that report servers which may be used. */
const watching = ["status it", "doctor --connect it"];

describe("M30 exit codes follow the table of errors", () => {
  it.each(Object.keys(failures))("of every verb with a server that has %s", async (kind) => {
    const { code, config, isUsable = true, file, policy } = failures[kind] ?? failing;
    const box = createSandbox({
      [file ?? "home/.config/plugboard/config.json"]: { mcpServers: { it: await config() } },
      ...(policy && { "managed/managed.json": policy }),
    });
    const { exitCode } = errorTable[code];
    const lines = [...verbs, ...(isUsable ? watching : [])].flatMap((verb) => [verb, `${verb} --json`]);
    const seen = await Promise.all(lines.map(async (line) => [line, (await box.cli(line.split(" "))).code]));
    expect(seen).toEqual(lines.map((line) => [line, exitCode]));
  });
});

it("M30 exits with 4 if the server is unknown, whatever the verb", async () => {
  const box = createSandbox();
  const lines = [
    ...verbs,
    ...watching,
    "get it",
    "explain it",
    "remove it",
    "enable it",
    "login it",
    "logout it",
  ];
  const seen = await Promise.all(lines.map(async (line) => [line, (await box.cli(line.split(" "))).code]));
  expect(seen).toEqual(lines.map((line) => [line, 4]));
});

async function answering(status: number): Promise<string> {
  const http = {
    status,
    contentType: "text/plain",
    body: "no",
    ...(status === 401 && { headers: { "WWW-Authenticate": "Bearer" } }),
  };
  const fake = await startFakeHttp({ on: [{ when: {}, do: [{ http }] }] });
  onTestFinished(() => fake.close());
  return fake.url;
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
