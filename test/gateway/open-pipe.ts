import { PassThrough } from "node:stream";
import { createGateway } from "../../src/gateway/index.ts";
import type { GatewayOptions } from "../../src/gateway/index.ts";
import type { HubOptions } from "../../src/index.ts";
import { openHub } from "../servers/hub-fixture.ts";
import type { Servers } from "../servers/hub-fixture.ts";
import type { ClientOptions, Era } from "./clients/client.ts";
import { openClient } from "./clients/open-client.ts";
import { StdioWire } from "./clients/stdio-wire.ts";

interface PipeOptions extends GatewayOptions {
  hub?: HubOptions;
  settings?: object;
  /** Whether every list is known before the first client comes. Default true. */
  isWarm?: boolean;
}

/** A hub, a gateway before it, and a way to connect clients over pipes. All ends with the block. */
export async function openPipe(
  servers: Servers,
  { hub: hubOptions, settings, isWarm = true, ...options }: PipeOptions = {},
) {
  const hub = await openHub(servers, { keepFresh: true, ...hubOptions }, settings);
  const gateway = createGateway(hub, options);
  if (isWarm) await Promise.all([hub.tools(), hub.resources(), hub.resourceTemplates(), hub.prompts()]);
  const pipes: { input: PassThrough; output: PassThrough; done: Promise<void> }[] = [];
  return {
    hub,
    gateway,
    async connect(era: Era, client?: ClientOptions) {
      const [input, output] = [new PassThrough(), new PassThrough()];
      pipes.push({ input, output, done: gateway.serveStdio({ input, output }) });
      return openClient(era, new StdioWire(input, output), client);
    },
    async [Symbol.asyncDispose]() {
      for (const { input, output } of pipes) {
        input.end();
        output.destroy();
      }
      await Promise.all(pipes.map(({ done }) => done));
      await gateway.close();
      await hub.close();
    },
  };
}
