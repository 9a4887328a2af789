import { Refusal } from "../index.ts";
import { mayPass } from "../lib/protocol-method.ts";
import { isRecord } from "../lib/record.ts";
import type { Client, ClientQuestion, Exchange } from "./exchange.ts";

/** True if there is anything that this client can be asked. */
export function canBeAsked({ capabilities, endpoint }: Client): boolean {
  const { elicitation, sampling, roots } = capabilities;
  return (
    isRecord(elicitation) || isRecord(sampling) || isRecord(roots) || endpoint.onlyServer() !== undefined
  );
}

/** Asks a legacy client on the stream of its request. */
export function askClient(
  exchange: Exchange,
): (question: ClientQuestion) => Promise<Record<string, unknown>> {
  const { client } = exchange;
  return async (question) => {
    assertDeclared(client, question);
    if (!client.ask) throw new Refusal(-32_601, "The client cannot be asked");
    return client.ask(question, exchange);
  };
}

/** Throws the protocol's error for a question that the client did not declare. Nobody answers in its name. */
export function assertDeclared(
  client: Client,
  { method, params }: Pick<ClientQuestion, "method" | "params">,
): void {
  if (!isDeclared(client, method, params))
    throw new Refusal(-32_601, `The client does not support ${method}`);
}

export function isDeclared(client: Client, method: string, params: Record<string, unknown>): boolean {
  const { elicitation, sampling, roots } = client.capabilities;
  switch (method) {
    case "elicitation/create": {
      if (!isRecord(elicitation)) return false;
      // `elicitation: {}` means forms only.
      if (params["mode"] === "url") return isRecord(elicitation["url"]);
      return isRecord(elicitation["form"]) || !isRecord(elicitation["url"]);
    }
    case "sampling/createMessage":
      return isRecord(sampling);
    case "roots/list":
      return isRecord(roots);
    default:
      return client.endpoint.onlyServer() !== undefined && mayPass(method, "request", client.capabilities);
  }
}
