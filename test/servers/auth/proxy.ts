import { request as ask } from "node:http";
import type { Exchange } from "./listener.ts";

/** Hands a request on as it is, and the answer back as it comes, with more headers; each side's leaving is the other's, too. */
export function forward(
  { request, response, received }: Exchange,
  origin: string,
  more: Record<string, string>,
): Promise<undefined> {
  return new Promise((resolve) => {
    const onward = ask(new URL(received.path, origin), { method: received.method, headers: request.headers });
    onward.on("error", () => response.destroy());
    onward.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, [...answer.rawHeaders, ...Object.entries(more).flat()]);
      response.flushHeaders();
      answer.on("error", () => response.destroy());
      answer.pipe(response);
    });
    response.once("close", () => {
      onward.destroy();
      resolve(undefined);
    });
    onward.end(received.body);
  });
}
