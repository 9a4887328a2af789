import { existsSync } from "node:fs";
import type { Transport } from "@modelcontextprotocol/client";
import { FakeServer } from "../fixtures/fake/fake-server.ts";
import { fakeStdio, readFakeLog, type Script, startFakeHttp } from "../fixtures/fake/index.ts";
import { memoryOutlet, openFolder, type Servers } from "../servers/hub-fixture.ts";
import type { Era, Fields } from "./clients/client.ts";

export const upstreamKinds = [
  "legacy-stdio",
  "legacy-http",
  "legacy-sse",
  "legacy-memory",
  "modern-stdio",
  "modern-http",
  "modern-memory",
] as const;
export type UpstreamKind = (typeof upstreamKinds)[number];

/** A fake server behind a gateway, and everything it was sent. */
export interface Upstream extends AsyncDisposable {
  name: string;
  era: Era;
  entry: Servers[string];
  /** What it received so far, in order; `text` as it came, where it came as text. */
  heard(): Heard[];
}

export interface Heard {
  message: Fields & { method?: string; params?: Fields };
  text: string;
}

/** Each has resources of its own, so that a URI says whose it is. */
export function richScript(name: string, era: Era): Script {
  return {
    versions: era,
    rare: true,
    serverInfo: { name, version: "1" },
    instructions: `Use ${name} with care.`,
    resources: [
      { uri: `fake://${name}/readme`, name: "readme", mimeType: "text/plain", unknown: { kept: [1] } },
      { uri: `fake://${name}/ask`, name: "ask", mimeType: "text/plain" },
    ],
    resourceTemplates: [{ uriTemplate: `fake://item/${name}/{id}`, name: "item", unknown: true }],
    prompts: [
      {
        name: "greet",
        description: "Greets",
        arguments: [{ name: "who", required: false }],
        icons: [{ src: "data:," }],
      },
      { name: "ask" },
    ],
  };
}

export async function openUpstream(kind: UpstreamKind, change: Partial<Script> = {}): Promise<Upstream> {
  const [era, transport] = kind.split("-") as [Era, "stdio" | "http" | "sse" | "memory"];
  const script = { ...richScript(kind, era), ...change };
  const about = { name: kind, era };
  if (transport === "stdio") {
    const folder = await openFolder();
    const log = `${folder.path}/log`;
    const lines = () => {
      if (!existsSync(log)) return [];
      return readFakeLog(log).flatMap((one) => (one.event === "received" ? [one.line] : []));
    };
    return {
      ...about,
      entry: fakeStdio({ ...script, log }),
      heard: () => lines().map((text) => ({ text, message: JSON.parse(text) as Fields })),
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    };
  }
  if (transport === "memory") return { ...about, ...inMemory(script) };
  const fake = await startFakeHttp(script);
  return {
    ...about,
    entry: transport === "sse" ? { type: "sse", url: fake.sseUrl } : { url: fake.url },
    heard: () => fake.received.flatMap(({ body, message }) => (message ? [{ text: body, message }] : [])),
    [Symbol.asyncDispose]: () => fake.close(),
  };
}

function inMemory(script: Script): Pick<Upstream, "entry" | "heard"> & AsyncDisposable {
  const heard: Heard[] = [];
  const server = {
    async connect(transport: Transport) {
      const fake = new FakeServer(script);
      const outlet = memoryOutlet(transport);
      const push = (message: object) => transport.send({ jsonrpc: "2.0", ...message } as never);
      Object.assign(transport, {
        onmessage: (message: Fields) => {
          heard.push({ message, text: JSON.stringify(message) });
          if (message["method"] === "initialize")
            fake.streams.add({ scope: outlet.scope, era: "legacy", push });
          fake.receive({ message }, outlet).catch(() => {});
        },
        onclose: () => fake.forget(),
      });
      await transport.start();
    },
  };
  return { entry: { server }, heard: () => heard, [Symbol.asyncDispose]: async () => {} };
}
