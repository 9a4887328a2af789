import { PassThrough } from "node:stream";
import { createGateway, type Gateway, type GatewayOptions } from "../../../src/gateway/index.ts";
import type { Hub, HubOptions } from "../../../src/index.ts";
import type { Script } from "../../fixtures/fake/index.ts";
import { openHub } from "../../servers/hub-fixture.ts";
import type { ClientOptions, Era, TestClient } from "../clients/client.ts";
import { HttpWire } from "../clients/http-wire.ts";
import { openClient } from "../clients/open-client.ts";
import { StdioWire } from "../clients/stdio-wire.ts";
import { openUpstream, type Upstream, type UpstreamKind } from "../upstreams.ts";

export const clientKinds = ["legacy-http", "modern-http", "legacy-stdio", "modern-stdio"] as const;
export type ClientKind = (typeof clientKinds)[number];

export interface SceneOptions {
  hub?: HubOptions;
  gateway?: GatewayOptions;
  /** For every server. */
  entry?: object;
  settings?: object;
  /** What the servers do otherwise. */
  script?: Partial<Script>;
}

/** A gateway on a free port before some fake servers. */
export interface Scene {
  hub: Hub;
  gateway: Gateway;
  url: string;
  upstream(kind: UpstreamKind): Upstream;
  /** A new client; over HTTP it is `caller`, over stdio it is always the same one. */
  client(kind: ClientKind, options?: ClientOptions & { caller?: string }): Promise<TestClient>;
  close(): Promise<void>;
}

/** What the clients of the matrix can do unless a test says otherwise. */
export const allCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: { listChanged: true },
};

export async function openScene(kinds: readonly UpstreamKind[], options: SceneOptions = {}): Promise<Scene> {
  const upstreams = new Map<UpstreamKind, Upstream>();
  for (const kind of kinds) upstreams.set(kind, await openUpstream(kind, options.script));
  const entries = [...upstreams].map(([kind, { entry }]) => [kind, { ...entry, ...options.entry }] as const);
  const hub = await openHub(
    Object.fromEntries(entries),
    { keepFresh: true, ...options.hub },
    options.settings,
  );
  const gateway = createGateway(hub, {
    // The token is the caller, so that there can be many.
    authenticate: ({ headers }) => /^Bearer (.+)$/.exec(headers.get("authorization") ?? "")?.[1],
    ...options.gateway,
  });
  // Otherwise the first lists would be those of the servers that have started by then.
  await Promise.all([hub.tools(), hub.resources(), hub.resourceTemplates(), hub.prompts()]);
  const { url } = await gateway.listen({ port: 0 });
  const clients = new Set<TestClient>();
  return {
    hub,
    gateway,
    url,
    upstream: (kind) => upstreams.get(kind) as Upstream,
    client: async (kind, { caller = "alice", ...own } = {}) => {
      const [era, transport] = kind.split("-") as [Era, "http" | "stdio"];
      const wire =
        transport === "http"
          ? new HttpWire({ url, headers: { authorization: `Bearer ${caller}` } })
          : pipeTo(gateway);
      const client = await openClient(era, wire, { capabilities: allCapabilities, ...own });
      clients.add(client);
      return client;
    },
    close: async () => {
      for (const client of clients) client.disconnect();
      await gateway.close();
      await hub.close();
      for (const upstream of upstreams.values()) await upstream[Symbol.asyncDispose]();
    },
  };
}

function pipeTo(gateway: Gateway): StdioWire {
  const input = new PassThrough();
  const output = new PassThrough();
  void gateway.serveStdio({ input, output });
  return new StdioWire(input, output);
}
