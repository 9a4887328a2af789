import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { createHub } from "../../src/index.ts";
import type { ConnectionStateName } from "../../src/host.ts";
import type {
  ConfigLiteral,
  ErrorCode,
  Hub,
  HubOptions,
  PlugboardError,
  RequestOptions,
  ServerReport,
} from "../../src/index.ts";
import { type FakeHttp, fakeStdio, readFakeLog, type Script, startFakeHttp } from "../fixtures/fake/index.ts";
import { FakeServer } from "../fixtures/fake/fake-server.ts";
import type { Outlet } from "../fixtures/fake/outlet.ts";

export type Servers = ConfigLiteral["servers"];
type Entry = Servers[string];

/** A hub that is closed at the end of its block. */
export function openHub(servers: Servers, options: HubOptions = {}, settings: object = {}): Promise<Hub> {
  return createHub({ servers, ...settings }, options);
}

/** An HTTP fake that is closed at the end of its block. */
export async function openFake(
  script: Script = {},
  options?: Parameters<typeof startFakeHttp>[1],
): Promise<FakeHttp & AsyncDisposable> {
  const fake = await startFakeHttp(script, options);
  return Object.defineProperties({} as FakeHttp & AsyncDisposable, {
    ...Object.getOwnPropertyDescriptors(fake),
    [Symbol.asyncDispose]: { value: () => fake.close() },
  });
}

export async function openFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "plugboard-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 20 }) };
}

/** A stdio fake that logs its starts and the messages it received. */
export async function openLogged(script: Script = {}): Promise<Logged & AsyncDisposable> {
  const folder = await openFolder();
  const log = join(folder.path, "log");
  const lines = () => {
    try {
      return readFakeLog(log);
    } catch {
      return [];
    }
  };
  const pids = () => lines().flatMap((line) => (line.event === "start" ? [line.pid] : []));
  return {
    entry: fakeStdio({ ...script, log }),
    pids,
    starts: () => pids().length,
    lines: () => lines().flatMap((line) => (line.event === "received" ? [line.line] : [])),
    heard: () =>
      lines().flatMap((line) => (line.event === "received" ? [JSON.parse(line.line) as Heard] : [])),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

interface Logged {
  entry: Entry;
  starts(): number;
  pids(): number[];
  /** The messages it received, as they came and parsed. */
  lines(): string[];
  heard(): Heard[];
}

export interface Heard {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
}

/** A fake in this process. */
export function inProcessFake(script: Script): Entry {
  const server = {
    async connect(transport: Transport) {
      const fake = new FakeServer(script);
      const outlet = memoryOutlet(transport);
      const push = (message: object) => send(transport, message);
      const onmessage = (message: JSONRPCMessage) => {
        if ("method" in message && message.method === "initialize")
          fake.streams.add({ scope: outlet.scope, era: "legacy", push });
        fake.receive({ message }, outlet).catch(ignore);
      };
      Object.assign(transport, { onmessage });
      await transport.start();
    },
  };
  return { server };
}

/** A server that keeps sending after the connection is closed. */
const ignore = () => undefined;

async function send(transport: Transport, message: object): Promise<void> {
  await transport.send({ jsonrpc: "2.0", ...message } as JSONRPCMessage);
}

export function memoryOutlet(transport: Transport): Outlet {
  const never = () => {
    throw new TypeError("fake server: not in this process");
  };
  return {
    scope: "memory",
    begin: () => {},
    frame: (message) => Buffer.from(JSON.stringify(message)),
    write: (bytes) => send(transport, JSON.parse(bytes.toString()) as object),
    finish: () => {},
    close: () => void transport.close(),
    exit: () => void transport.close(),
    child: never,
    head: never,
    open: never,
    drop: never,
  };
}

export type CallOptions = Partial<Omit<RequestOptions, "server">> & { caller?: string | undefined };

/** Calls a tool and returns the text of the server's own answer. */
export async function call(
  hub: Hub,
  server: string,
  tool: string,
  args: Record<string, unknown> = {},
  options: CallOptions = {},
): Promise<string> {
  const { caller, ...rest } = options;
  const view = caller === undefined ? hub : hub.view({ caller });
  const answer = await view.forwardCall(`${server}.${tool}`, { arguments: args }, rest);
  if ("error" in answer) throw new Error(`${server} answered ${tool} with ${answer.error.message}`);
  const [first] = answer.result["content"] as { text: string }[];
  return first?.text ?? "";
}

export async function toolNames(hub: Hub, server: string): Promise<string[]> {
  const answer = await hub.request("tools/list", {}, { server });
  if ("error" in answer) throw new Error(`${server} did not list its tools: ${answer.error.message}`);
  return (answer.result["tools"] as { name: string }[]).map(({ name }) => name);
}

export const add = (hub: Hub, server: string, options?: CallOptions): Promise<string> =>
  call(hub, server, "add", { a: 2, b: 3 }, options);

export const sum = '{"sum":5}';

export function report(hub: Hub, name: string): ServerReport {
  const found = hub.status().find((one) => one.name === name);
  if (!found) throw new Error(`${name} is not in the status`);
  return found;
}

export async function failure(work: Promise<unknown>): Promise<PlugboardError & { code: ErrorCode }> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("value" in outcome) throw new Error(`expected a failure, got ${JSON.stringify(outcome.value)}`);
  return outcome.error as PlugboardError;
}

/** Resolves when the server is in one of these states. */
export function reached(hub: Hub, name: string, ...states: ConnectionStateName[]): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!states.includes(report(hub, name).state)) return;
      stop();
      resolve();
    };
    const stop = hub.on("connection-changed", ({ server }) => server === name && queueMicrotask(look));
    look();
  });
}
