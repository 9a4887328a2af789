import { isRecord } from "../../lib/record.ts";
import type { Method } from "../core.ts";
import { viewOf } from "../exchange.ts";
import { metaKeys } from "../envelope.ts";
import { inUse } from "../holding.ts";
import { invalidParams } from "../failure.ts";
import { ownerOf } from "../resource-owners.ts";
import { declaresTasks, missingTasks } from "../tasks/protocols.ts";

/** Tells a modern client of changes until it goes away. Acknowledged first, and every message names the subscription. */
export const listen: Method = async (exchange, { ledger }) => {
  const { client, params, signal, id } = exchange;
  const { notifications: wanted } = params.value;
  if (!isRecord(wanted)) throw invalidParams("`notifications` must be an object.");
  if (wanted["taskIds"] !== undefined && !declaresTasks(client)) throw missingTasks();
  const tagged = (method: string, content: Record<string, unknown> = {}) =>
    exchange.notify(method, { ...content, _meta: { [metaKeys.subscription]: id } });
  const kinds = (["tools", "prompts", "resources"] as const).filter(
    (kind) => wanted[`${kind}ListChanged`] === true,
  );
  const { resourceSubscriptions: uris } = wanted;
  const asked = Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [];
  const view = viewOf(client);
  const early: string[] = [];
  let isAcknowledged = false;
  const stops: (() => void)[] = [];
  const subscribed: string[] = [];
  await Promise.all(
    asked.map(async (shown) => {
      const holding = ledger.hold(client.caller, "subscriptions", inUse, shown.length);
      if (!holding) return;
      stops.push(() => holding.release());
      try {
        const { server, uri } = await ownerOf(shown, client);
        const tell = () => tagged("notifications/resources/updated", { uri: shown });
        const onUpdated = () => (isAcknowledged ? tell() : void early.push(shown));
        const stop = await view.subscribeResource(server, uri, onUpdated, { signal });
        stops.push(() => void stop());
        subscribed.push(shown);
      } catch {
        // What is not acknowledged is not honoured; the client sees which.
      }
    }),
  );
  const honoured = {
    ...Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true])),
    ...(subscribed.length > 0 && { resourceSubscriptions: asked.filter((uri) => subscribed.includes(uri)) }),
  };
  tagged("notifications/subscriptions/acknowledged", { notifications: honoured });
  isAcknowledged = true;
  for (const uri of early) tagged("notifications/resources/updated", { uri });
  stops.push(
    client.endpoint.onChange((kind) => {
      if (kinds.includes(kind)) tagged(`notifications/${kind}/list_changed`);
    }),
  );
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  for (const stop of stops) stop();
  return { result: { resultType: "complete", _meta: { [metaKeys.subscription]: id } } };
};
