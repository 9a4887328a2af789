import { legacyRevisions, modernRevision } from "../../host.ts";
import type { ClientMessage, ClientRequest } from "../message.ts";
import { inUse } from "../holding.ts";
import type { Ledger } from "../ledger.ts";
import type { Heartbeat } from "./heartbeat.ts";
import { HttpSession } from "./http-session.ts";
import { accepts, refuseFailure, refuseIncoming } from "./incoming.ts";
import type { Incoming } from "./incoming.ts";
import { answerChunks } from "./json-rpc.ts";
import { LegacyReply } from "./legacy-reply.ts";
import type { GatewayLimits } from "./limits.ts";
import { tooMany } from "./refusal.ts";
import type { HttpRefusal } from "./refusal.ts";
import type { Sessions } from "./sessions.ts";
import type { StandingStreams } from "./standing-streams.ts";
import { refusedStatus } from "./status.ts";

export interface LegacySettings {
  sessions: Sessions;
  ledger: Ledger;
  heartbeat: Heartbeat;
  limits: GatewayLimits;
  standing: StandingStreams;
}

/** The last revision that has batches. */
const lastWithBatches = "2025-03-26";

/** Serves legacy requests, which belong to sessions. */
export class LegacyRequests {
  readonly #settings: LegacySettings;

  constructor(settings: LegacySettings) {
    this.#settings = settings;
  }

  /** POST. Resolves when every request in it is answered. */
  serve(incoming: Incoming, messages: readonly ClientMessage[], isBatch: boolean): Promise<void> | void {
    const [first] = messages;
    const hasSession = incoming.request.header("mcp-session-id") !== undefined;
    if (!isBatch && !hasSession && first?.kind === "request" && first.method === "initialize")
      return this.#initialize(incoming, first);
    const session = this.#session(incoming);
    if (!session) return;
    if (isBatch && session.client.revision > lastWithBatches)
      return refuseIncoming(incoming, {
        status: refusedStatus,
        code: -32_600,
        message: `Invalid request: revision ${session.client.revision} has no batches.`,
      });
    return this.#answer(incoming, session, messages, isBatch);
  }

  /** GET: opens a stream that listens, or resumes one. */
  listen(incoming: Incoming): void {
    const { request, reply, cors, caller } = incoming;
    if (!accepts(request, "text/event-stream"))
      return refuseIncoming(incoming, { status: 406, message: "Accept must list text/event-stream." });
    const session = this.#session(incoming);
    if (!session) return;
    const { ledger, limits, standing } = this.#settings;
    const hasRoom = session.listening < limits.streamsPerSession;
    const holding = hasRoom ? ledger.hold(caller, "streams", inUse) : undefined;
    if (!holding)
      return refuseIncoming(incoming, tooMany(429, "You have too many open streams. Close some."));
    session.touch();
    const forget = standing.add(incoming, () => reply.end());
    reply.onClose(() => {
      forget();
      session.touch();
      holding.release();
    });
    if (session.listen(reply, cors, request.header("last-event-id"))) return;
    refuseIncoming(incoming, { status: 400, message: "Nothing is known of this Last-Event-ID any longer." });
  }

  /** DELETE. */
  end(incoming: Incoming): void {
    const session = this.#session(incoming);
    if (!session) return;
    this.#settings.sessions.end(session);
    incoming.reply.send(204, incoming.cors);
  }

  async #initialize(incoming: Incoming, message: ClientRequest): Promise<void> {
    const { reply, cors } = incoming;
    try {
      const session = this.#settings.sessions.open(message, incoming);
      if (!(session instanceof HttpSession)) return refuseIncoming(incoming, session, message.idText);
      const headers = { ...cors, "content-type": "application/json", "mcp-session-id": session.id };
      const answer = await session.client.greet(message);
      reply.send(200, headers, answerChunks(message.idText, answer));
    } catch (error) {
      refuseFailure(incoming, error, message.idText);
    }
  }

  #answer(
    incoming: Incoming,
    session: HttpSession,
    messages: readonly ClientMessage[],
    isBatch: boolean,
  ): Promise<void> | void {
    let requests = 0;
    for (const { kind } of messages) if (kind === "request") requests++;
    const outlet = new LegacyReply(incoming, session, this.#settings.heartbeat, requests, isBatch);
    const [first] = messages;
    try {
      // Most POSTs have one message, and promises cost.
      if (first && messages.length === 1 && requests === 1) return session.client.receive(first, outlet);
      const answering = messages.flatMap((message) => session.client.receive(message, outlet) ?? []);
      if (requests > 0) return Promise.all(answering).then(() => undefined);
    } catch (error) {
      outlet.end();
      throw error;
    }
    outlet.end();
    incoming.reply.send(202, incoming.cors);
  }

  /** The session of a request; undefined if the request was refused. */
  #session(incoming: Incoming): HttpSession | undefined {
    const { request, endpoint, caller } = incoming;
    const id = request.header("mcp-session-id");
    const session = id === undefined ? undefined : this.#settings.sessions.find(id, endpoint, caller);
    const refusal = session ? versionRefusal(request.header("mcp-protocol-version")) : noSession(id);
    if (refusal) refuseIncoming(incoming, refusal);
    return refusal ? undefined : session;
  }
}

/** 404 makes a client start again. */
function noSession(id: string | undefined): HttpRefusal {
  return id === undefined
    ? { status: 400, message: "Mcp-Session-Id is missing. Send `initialize` first." }
    : { status: 404, code: -32_001, message: "There is no such session. Send `initialize` again." };
}

/** The header need not be there, nor be the negotiated revision: not every client gets that right. */
function versionRefusal(version: string | undefined): HttpRefusal | undefined {
  if (version === undefined || legacyRevisions.some((one) => one === version)) return undefined;
  const supported = [modernRevision, ...legacyRevisions];
  return {
    status: 400,
    code: -32_022,
    message: "Unsupported MCP-Protocol-Version.",
    data: { supported, requested: version.slice(0, 50) },
  };
}
