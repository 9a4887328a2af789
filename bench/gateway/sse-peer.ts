import { get } from "node:http";
import { EventStreamParser } from "../../src/servers/transports/http/event-stream.ts";
import { Connections } from "./connections.ts";
import type { Reply } from "./connections.ts";
import type { Exchange } from "./load.ts";

/** Connects to a gateway that has only the HTTP+SSE transport of 2024-11-05: all answers come on one stream. */
export async function connectSse(url: string, initialize: string, initialized: string): Promise<Exchange> {
  const waiting = new Map<number, (answer: Reply) => void>();
  const endpoint = await new Promise<string>((resolve, reject) => {
    const parser = new EventStreamParser({
      maxEventLength: 64 << 20,
      tooLong: () => new Error("an event is too long"),
      onEvent: ({ type, data }) => {
        if (type === "endpoint") return resolve(data.toString());
        const head = data.toString("latin1", 0, 1000);
        const id = idIn(head) ?? idIn(data.toString("latin1", Math.max(0, data.length - 100)));
        if (id === undefined) return;
        waiting.get(id)?.({ status: 200, head, length: data.length });
        waiting.delete(id);
      },
    });
    const headers = { accept: "text/event-stream" };
    get(url, { headers }, (stream) => stream.on("data", (chunk: Buffer) => parser.push(chunk))).on(
      "error",
      reject,
    );
  });
  const { origin } = new URL(url);
  const { pathname, search } = new URL(endpoint, url);
  const connections = new Connections(origin);
  const prefix = connections.prefix(pathname + search, { "content-type": "application/json" });
  const post = async (body: string) => (await connections.post(prefix, body)).status;
  const exchange: Exchange = async (id, body) => {
    const answer = new Promise<Reply>((resolve) => waiting.set(id, resolve));
    const status = await post(body);
    return status < 300 ? answer : { status, head: "the message was refused", length: 0 };
  };
  await exchange(0, initialize);
  await post(initialized);
  return exchange;
}

function idIn(text: string): number | undefined {
  const [, id] = /"id":(\d+)/.exec(text) ?? [];
  return id === undefined ? undefined : Number(id);
}
