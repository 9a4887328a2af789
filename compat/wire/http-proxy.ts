import { createServer, request as forward } from "node:http";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Observation } from "./observed.ts";
import type { Observed } from "./observed.ts";

export interface RecordingProxy extends AsyncDisposable {
  /** Where clients connect. */
  url: string;
  /** What was seen. */
  observed(): Observed;
}

/** Passes every request to the gateway and notes what clients send. Only the port in `Host` is changed. */
export async function startProxy(target: string): Promise<RecordingProxy> {
  const { port, pathname } = new URL(target);
  const observation = new Observation();
  const server = createServer((request, response) => {
    const host = (request.headers.host ?? "127.0.0.1").replace(/:\d+$/, `:${port}`);
    const options = { host: "127.0.0.1", port, path: request.url, method: request.method };
    const upstream = forward({ ...options, headers: { ...request.headers, host } });
    if (request.method !== "POST") observation.count(request.method ?? "");
    collect(request, (text) => observation.fromClient(text));
    request.pipe(upstream);
    response.on("close", () => upstream.destroy());
    upstream.on("error", () => response.destroy());
    upstream.on("response", (answer) => {
      collect(answer, (text) => {
        for (const line of text.split("\n")) observation.fromGateway(line.replace(/^data: ?/, ""));
      });
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    observed: () => observation.seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function collect(message: IncomingMessage, then: (text: string) => void) {
  const chunks: Buffer[] = [];
  message.on("data", (chunk: Buffer) => chunks.push(chunk));
  message.on("end", () => then(Buffer.concat(chunks).toString("utf8")));
}
