import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { PlugboardError } from "../../src/errors.ts";
import { ProcessTree } from "../../src/servers/process/process-tree.ts";
import { HttpTransport } from "../../src/servers/transports/http/transport.ts";
import { type InProcessServer, MemoryTransport } from "../../src/servers/transports/memory.ts";
import { SseTransport } from "../../src/servers/transports/sse.ts";
import { StdioTransport } from "../../src/servers/transports/stdio/transport.ts";
import type { Transport, TransportEvents } from "../../src/servers/transports/transport.ts";
import { FakeServer } from "../fixtures/fake/fake-server.ts";
import { fakeStdio, readFakeLog, type Script } from "../fixtures/fake/index.ts";
import type { Outlet } from "../fixtures/fake/outlet.ts";
import { createSandbox } from "../sandbox.ts";
import { fakeHttp } from "./http-fixture.ts";
import type { Params } from "./rpc-fixture.ts";

/** A transport and its server. */
export interface Subject {
  transport: Transport;
  /** The messages that the server received, in order. */
  received(): Params[];
  die(): Promise<void>;
}

export const subjects: [name: string, open: (script: Script) => Promise<Subject>][] = [
  ["stdio", openStdio],
  ["http", openHttp],
  ["sse", openSse],
  ["memory", openMemory],
];

async function openStdio(script: Script): Promise<Subject> {
  const { root } = createSandbox();
  const log = join(root, "log");
  const processes = new ProcessTree({ env: process.env });
  onTestFinished(() => processes.close());
  const program = { server: "subject", ...fakeStdio({ ...script, log }) };
  const transport = new StdioTransport({ processes, program });
  return {
    transport,
    received: () =>
      readFakeLog(log).flatMap((line) =>
        line.event === "received" ? [JSON.parse(line.line) as Params] : [],
      ),
    die: async () => void process.kill(transport.pid ?? 0, "SIGKILL"),
  };
}

async function openHttp(script: Script): Promise<Subject> {
  const fake = await fakeHttp(script);
  const transport = new HttpTransport({ server: "subject", url: new URL(fake.url) });
  return { transport, received: () => messagesOf(fake.received), die: () => fake.close() };
}

async function openSse(script: Script): Promise<Subject> {
  const fake = await fakeHttp(script);
  const transport = new SseTransport({ server: "subject", url: new URL(fake.sseUrl) });
  return { transport, received: () => messagesOf(fake.received), die: () => fake.close() };
}

function messagesOf(received: { message: Params | undefined }[]): Params[] {
  return received.flatMap(({ message }) => (message ? [message] : []));
}

async function openMemory(script: Script): Promise<Subject> {
  const received: Params[] = [];
  let end = async () => {};
  const server: InProcessServer = {
    async connect(far) {
      const fake = new FakeServer(script);
      const outlet = inProcess((message) => far.send(message as Parameters<typeof far.send>[0]));
      Object.assign(far, {
        onmessage: (message: Params) => {
          received.push(message);
          void fake.receive({ message }, outlet);
        },
        onclose: () => fake.forget(),
      });
      await far.start();
      end = () => far.close();
    },
  };
  const transport = new MemoryTransport({ name: "subject", server });
  return { transport, received: () => received, die: () => end() };
}

function inProcess(send: (message: unknown) => Promise<void>): Outlet {
  const never = () => {
    throw new TypeError("fake server: not in the same process");
  };
  return {
    scope: "memory",
    begin: () => {},
    frame: (message) => Buffer.from(JSON.stringify(message)),
    // Like a broken pipe: the closed end receives nothing.
    write: (bytes) => send(JSON.parse(bytes.toString())).catch(() => {}),
    finish: () => {},
    close: never,
    exit: never,
    child: never,
    head: never,
    open: never,
    drop: never,
  };
}

/** Records all events and never answers. */
export class Recorder implements TransportEvents {
  readonly messages: { message: Params; during: string | undefined }[] = [];
  readonly failures: { id: string; error: PlugboardError }[] = [];
  readonly ends: PlugboardError[] = [];
  readonly offered: string[] = [];
  readonly wantsBytes = true;
  /** Takes the bytes of messages that contain this text. */
  takesText: string | undefined;

  takes(bytes: Buffer): boolean {
    const text = bytes.toString();
    this.offered.push(text);
    return this.takesText !== undefined && text.includes(this.takesText);
  }

  message(message: Params, during?: string): void {
    this.messages.push({ message, during });
  }

  failed(id: string, error: PlugboardError): void {
    this.failures.push({ id, error });
  }

  missed(): void {}

  doubted(): void {}

  closed(error: PlugboardError): void {
    this.ends.push(error);
  }

  answerTo(id: string): Params | undefined {
    return this.messages.find(({ message }) => message["id"] === id && !("method" in message))?.message;
  }
}
