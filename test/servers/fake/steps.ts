import { setTimeout as pause } from "node:timers/promises";
import { behave } from "./behave.ts";
import { bytesOf, deliver, deliverBytes, withId } from "./delivery.ts";
import type { Exchange } from "./exchange.ts";
import { metaOf, requestId, RpcError } from "./protocol.ts";
import type { Delivery, HttpAnswer, Step } from "./script.ts";

/** Does the steps in order, on any transport; false when one of them was the last thing to be heard. */
export async function runSteps(steps: Step[], exchange: Exchange): Promise<boolean> {
  exchange.outlet.begin(steps.some(isAboutHttp));
  for (const [index, step] of steps.entries()) {
    const rest = steps.slice(index + 1);
    exchange.more = rest.some(speaks);
    exchange.later = exchange.more || rest.some((later) => "drop" in later || "close" in later);
    if ("silent" in step) return false;
    await runStep(step, exchange);
  }
  const { message, http } = exchange.incoming;
  if (http?.verb === "POST" && requestId(message) === undefined) exchange.outlet.finish();
  return true;
}

const SPEAKING = ["default", "answer", "error", "message", "notify", "request", "progress", "raw"];

function speaks(step: Step): boolean {
  return SPEAKING.some((kind) => kind in step) && !("to" in step && step.to === "stderr");
}

function isAboutHttp(step: Step): boolean {
  return "http" in step || "headers" in step || "drop" in step || ("to" in step && step.to === "socket");
}

async function runStep(step: Exclude<Step, { silent: true }>, exchange: Exchange): Promise<void> {
  const { server, outlet, id } = exchange;
  if ("default" in step) return behave(exchange, step);
  if ("answer" in step) return exchange.answer(step.answer, step);
  if ("error" in step) {
    return exchange.fail(new RpcError(step.error.code, step.error.message, { data: step.error.data }), step);
  }
  if ("message" in step) return exchange.say(withId(step.message, id), step);
  if ("notify" in step) {
    const notification = { jsonrpc: "2.0", ...step.notify };
    if (!/\/(list_changed|updated)$/.test(step.notify.method)) return exchange.say(notification, step);
    const push = (): Promise<void> => server.broadcast(notification);
    return deliver(() => Buffer.from(JSON.stringify(notification)), step, server.script.limits, push);
  }
  if ("request" in step) {
    const answer = exchange.ask(step.request.method, step.request.params, step);
    if (step.wait !== false) await answer;
    return undefined;
  }
  if ("progress" in step) return progress(step.progress, step.everyMs ?? 0, exchange);
  if ("raw" in step) {
    const { bytes } = await bytesOf(step.raw, id);
    return deliverBytes(bytes, step, server.script.limits, (part) => outlet.write(part, step.to ?? "output"));
  }
  if ("delayMs" in step) return pause(step.delayMs);
  if ("waitFor" in step) return server.seen(step.waitFor);
  if ("set" in step) return server.set(step.set);
  if ("exit" in step) return outlet.exit(step.exit);
  if ("close" in step) return outlet.close(step.close);
  if ("child" in step) return outlet.child(step.child.ms);
  if ("headers" in step) return outlet.head(undefined, step.headers);
  if ("drop" in step) return outlet.drop(step.drop);
  return http(step.http, step, exchange);
}

async function progress(times: number | "forever", everyMs: number, exchange: Exchange): Promise<void> {
  const progressToken = metaOf(exchange.incoming.message)["progressToken"];
  if (progressToken === undefined) return;
  let done = 0;
  const total = times === "forever" ? {} : { total: times };
  const frame = (): Buffer =>
    exchange.outlet.frame(
      {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken, progress: ++done, ...total },
      },
      true,
    );
  const write = (bytes: Buffer): Promise<void> => exchange.outlet.write(bytes, "output");
  await deliver(frame, { times, everyMs }, exchange.server.script.limits, write);
}

async function http(answer: HttpAnswer, delivery: Delivery, exchange: Exchange): Promise<void> {
  const json = answer.json === undefined ? undefined : JSON.stringify(withId(answer.json, exchange.id));
  const { bytes, encoding } = await bytesOf(json ?? answer.body ?? "", exchange.id);
  const { outlet, server } = exchange;
  outlet.open(answer, bytes.length, encoding);
  await deliverBytes(bytes, delivery, server.script.limits, (part) => outlet.write(part, "output"));
  if (answer.open !== true && delivery.cut === undefined) outlet.finish();
}
