import type { Endpoint } from "../endpoint.ts";
import type { Client, Dispatcher } from "../exchange.ts";
import type { ClientMessage, ClientRequest } from "../message.ts";
import { Slots } from "../../lib/transient.ts";
import { modernClient, revisionOf } from "../modern-client.ts";
import { inUse } from "../holding.ts";
import type { Ledger } from "../ledger.ts";
import { OpenExchange } from "../open-exchange.ts";
import { isModernRevision } from "../../host.ts";
import { assertParamHeaders, assertRoutingHeaders, assertVersionHeader } from "./header-rules.ts";
import type { Heartbeat } from "./heartbeat.ts";
import { refuseFailure, refuseIncoming } from "./incoming.ts";
import type { Incoming } from "./incoming.ts";
import type { GatewayLimits } from "./limits.ts";
import { ModernReply } from "./modern-reply.ts";
import { tooMany } from "./refusal.ts";
import type { HttpRequest } from "./request.ts";
import type { StandingStreams } from "./standing-streams.ts";
import { refusedStatus } from "./status.ts";

export interface ModernSettings {
  dispatcher: Dispatcher;
  ledger: Ledger;
  heartbeat: Heartbeat;
  limits: GatewayLimits;
  standing: StandingStreams;
}

const listenMethod = "subscriptions/listen";

/** Whether a message is of the modern era. Its body decides; the header alone shows what the body lacks. */
export function isModernMessage(request: HttpRequest, message: ClientMessage): boolean {
  if (message.kind !== "answer" && revisionOf(message.params) !== undefined) return true;
  if (isModernRevision(request.header("mcp-protocol-version"))) return true;
  const isOnlyModern =
    message.kind === "request" && (message.method === "server/discover" || message.method === listenMethod);
  return isOnlyModern && request.header("mcp-session-id") === undefined;
}

/** Serves modern requests: each stands for itself, and ends with its connection. */
export class ModernRequests {
  readonly #settings: ModernSettings;
  readonly #open = new Slots<OpenExchange>();

  constructor(settings: ModernSettings) {
    this.#settings = settings;
  }

  /** Resolves when the request is answered. */
  serve(incoming: Incoming, message: ClientMessage): Promise<void> | void {
    if (message.kind === "answer")
      return refuseIncoming(incoming, {
        status: refusedStatus,
        code: -32_600,
        message: "Nothing was asked.",
      });
    if (message.kind === "request") return this.#answer(incoming, message);
    try {
      // Only requests have to say who sends them. What nobody is known to say is heard by nobody.
      if (revisionOf(message.params) !== undefined) {
        const client = modernClient(message.params, senderOf(incoming));
        this.#settings.dispatcher.hear(client, message.method, message.params);
      }
    } catch (error) {
      return refuseFailure(incoming, error);
    }
    incoming.reply.send(202, incoming.cors);
  }

  /** Ends the requests that would last for ever. */
  endListening(): void {
    for (const exchange of this.#open) if (exchange.method === listenMethod) exchange.cancel();
  }

  close(): void {
    for (const exchange of this.#open) exchange.cancel();
  }

  async #answer(incoming: Incoming, message: ClientRequest): Promise<void> {
    const { reply, caller } = incoming;
    const { ledger, heartbeat, limits, dispatcher, standing } = this.#settings;
    let client: Client;
    try {
      const sender = this.#sender(incoming, message);
      client = sender instanceof Promise ? await sender : sender;
    } catch (error) {
      return refuseFailure(incoming, error, message.idText);
    }
    const isListening = message.method === listenMethod;
    const stream = isListening ? ledger.hold(caller, "streams", inUse, message.params.heldBytes) : undefined;
    if (isListening && !stream)
      return refuseIncoming(
        incoming,
        tooMany(429, "You have too many open streams. Close some."),
        message.idText,
      );
    const outlet = new ModernReply(incoming, limits.waitingBytes);
    const exchange = new OpenExchange(client, message, outlet);
    reply.onClose((isDelivered) => {
      outlet.abandon();
      if (!isDelivered) exchange.cancel();
    });
    const place = this.#open.add(exchange);
    const beat = heartbeat.add(outlet);
    const forget = isListening ? standing.add(incoming, () => exchange.cancel()) : undefined;
    try {
      outlet.answer(message.idText, await dispatcher.answer(exchange));
    } finally {
      forget?.();
      exchange.end();
      this.#open.remove(place);
      heartbeat.remove(beat);
      stream?.release();
    }
  }

  /** Who sent the request. Throws -32602, -32020 or -32022 if the request does not say it, or says two things. */
  #sender(incoming: Incoming, message: ClientRequest): Client | Promise<Client> {
    const { request, endpoint } = incoming;
    const { params, method } = message;
    const { name, arguments: args } = params.value;
    assertVersionHeader(request, revisionOf(params));
    const client = modernClient(params, senderOf(incoming));
    assertRoutingHeaders(request, message);
    if (method !== "tools/call" || typeof name !== "string") return client;
    const check = (tool: ReturnType<Endpoint["knownTool"]>) => {
      if (tool) assertParamHeaders(request, tool.headers, args);
      return client;
    };
    const known = endpoint.knownTool(name, client, true);
    return known ? check(known) : endpoint.tool(name, client, true).then(check);
  }
}

function senderOf({
  request,
  endpoint,
  caller,
}: Incoming): Pick<Client, "endpoint" | "caller" | "sent" | "transport"> {
  const sent = endpoint.sent((name) => request.header(name));
  return { endpoint, caller, sent, transport: "http" };
}
