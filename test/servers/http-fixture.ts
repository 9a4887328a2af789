import {
  Client,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/client";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { PlugboardError } from "../../src/errors.ts";
import type { Lane, LaneOptions } from "../../src/servers/rpc/lane.ts";
import { HttpTransport, type HttpTransportOptions } from "../../src/servers/transports/http/transport.ts";
import { type FakeHttp, type Script, startFakeHttp } from "../fixtures/fake/index.ts";

export const modernMeta = {
  [PROTOCOL_VERSION_META_KEY]: "2026-07-28",
  [CLIENT_INFO_META_KEY]: { name: "test", version: "1" },
  [CLIENT_CAPABILITIES_META_KEY]: {},
};

export async function fakeHttp(
  script: Script = {},
  options?: Parameters<typeof startFakeHttp>[1],
): Promise<FakeHttp> {
  const fake = await startFakeHttp(script, options);
  onTestFinished(() => fake.close());
  return fake;
}

/** A plain server that answers as it is told; closed with everything on it when the test ends. */
export async function plainHttp(listener: RequestListener): Promise<{ origin: string; server: Server }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

export type Era = "legacy" | "modern";

export interface Opened {
  transport: HttpTransport;
  client: Client;
  errors: Error[];
  call(
    tool: string,
    args?: Record<string, unknown>,
    options?: Partial<LaneOptions>,
  ): ReturnType<Lane["request"]>;
}

/** A transport under a connected SDK client. */
export async function open(
  url: string,
  era: Era = "legacy",
  options: Partial<HttpTransportOptions> = {},
): Promise<Opened> {
  const transport = createTransport(url, options);
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" },
    },
  );
  const errors: Error[] = [];
  Object.assign(client, { onerror: (error: Error) => errors.push(error) });
  await client.connect(transport);
  return { transport, client, errors, call: (...args) => callTool(transport.lane, era, ...args) };
}

export function createTransport(url: string, options: Partial<HttpTransportOptions> = {}): HttpTransport {
  const transport = new HttpTransport({ server: "remote", url: new URL(url), ...options });
  onTestFinished(() => transport.close());
  return transport;
}

export function callTool(
  lane: Lane,
  era: Era,
  name: string,
  args: Record<string, unknown> = {},
  options: Partial<LaneOptions> = {},
): ReturnType<Lane["request"]> {
  const params = { name, arguments: args, ...(era === "modern" && { _meta: modernMeta }) };
  return lane.request("tools/call", params, { timeoutMs: 20_000, maxTimeoutMs: 25_000, ...options });
}

export async function failure(promise: Promise<unknown>): Promise<PlugboardError> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("value" in outcome) throw new Error(`expected a failure, got ${JSON.stringify(outcome.value)}`);
  return outcome.error as PlugboardError;
}

/** Waits for something to become true by asking again on every turn of the event loop. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
