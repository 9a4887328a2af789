import { setTimeout as sleep } from "node:timers/promises";
import { startOurGateway } from "./contenders.ts";
import { judge } from "./figures.ts";
import { echoCommand } from "./processes.ts";
import { median } from "../median.ts";

const runs = 5;

/**
 * A first start with a server that hangs and no snapshot: how long a client waits for the answer to its handshake, and,
 * once the other server has listed its tools, for those. The hanging server never answers.
 */
export async function measureStartUp(build: string): Promise<void> {
  const handshakes: number[] = [];
  const lists: number[] = [];
  for (let run = 0; run < runs; run++) {
    const [command = "", ...args] = echoCommand(1);
    const hanging = { command, args: [...args, "hang"] };
    const ours = await startOurGateway(build, { echo: { command, args }, hanging });
    try {
      const { url, headers = {} } = ours.targets.legacy ?? { url: "" };
      const post = poster(url, headers);
      const greeting = await post(initialize, handshakes);
      const session = { "mcp-session-id": greeting.headers.get("mcp-session-id") ?? "" };
      // The first list starts the servers, and waits a little for those that come soon.
      await post(listTools, [], session);
      await sleep(1_000);
      const text = await (await post(listTools, lists, session)).text();
      if (!text.includes("echo__echo")) throw new Error(`the tools are not listed: ${text.slice(0, 300)}`);
    } finally {
      await ours.stop();
    }
  }
  judge("ms to the handshake, with a server that hangs", median(handshakes), "below", 50);
  judge("ms to the others' tools, with a server that hangs", median(lists), "below", 50);
}

const initialize = {
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};
const listTools = { method: "tools/list", params: {} };

function poster(url: string, common: Record<string, string>) {
  return async (message: object, took: number[], more: Record<string, string> = {}): Promise<Response> => {
    const from = performance.now();
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...common,
        ...more,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
    });
    took.push(performance.now() - from);
    return response;
  };
}
