import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { AuthProvider, OAuthClientProvider } from "@modelcontextprotocol/client";
import type { ServerAuth } from "../../src/auth/server-auth.ts";
import { suppliedAuth } from "../../src/auth/supplied.ts";
import { HttpTransport, type HttpTransportOptions } from "../../src/servers/transports/http/transport.ts";
import { type FakeHttp, type Script, startFakeHttp } from "../fixtures/fake/index.ts";
import { type Era, openRpc, type Opened } from "./rpc-fixture.ts";

export async function fakeHttp(
  script: Script = {},
  options?: Parameters<typeof startFakeHttp>[1],
): Promise<FakeHttp> {
  const fake = await startFakeHttp(script, options);
  onTestFinished(() => fake.close());
  return fake;
}

/** A plain HTTP server with the given behaviour; closed with all its connections when the test ends. */
export async function plainHttp(listener: RequestListener): Promise<{ origin: string; server: Server }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

type Options = Partial<HttpTransportOptions>;

/** After the handshake. */
export function open(url: string, era: Era = "legacy", options: Options = {}): Promise<Opened> {
  return openRpc(createTransport(url, options), { era });
}

/** Without one. */
export function openBare(url: string, options: Options = {}): Promise<Opened> {
  return openRpc(createTransport(url, options));
}

export function createTransport(url: string, options: Options = {}): HttpTransport {
  return new HttpTransport({ server: "remote", url: new URL(url), ...options });
}

/** Credentials from the host program, as a transport receives them. */
export function supplied(provider: AuthProvider | OAuthClientProvider, url: string): ServerAuth {
  return suppliedAuth(provider, {
    server: "remote",
    id: "mine",
    url: new URL(url),
    withFetch: (work) => work(fetch),
  });
}
