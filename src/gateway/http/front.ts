import type { Endpoint } from "../endpoint.ts";
import type { Dispatcher } from "../exchange.ts";
import type { Ledger } from "../ledger.ts";
import type { LogLevels } from "../log-levels.ts";
import { BadMessage, readBatch, readMessage } from "../message.ts";
import type { ClientMessage } from "../message.ts";
import type { Seal } from "../seal.ts";
import { isModernRevision } from "../../host.ts";
import { startDeadline } from "../../lib/deadline.ts";
import { Slots } from "../../lib/transient.ts";
import { ApprovalApi } from "./approvals.ts";
import type { ApprovalApiSettings } from "./approvals.ts";
import { createAuthentication } from "./authentication.ts";
import type { Authentication, AuthenticationOptions } from "./authentication.ts";
import { CallerUse } from "./caller-use.ts";
import { Connections } from "./connections.ts";
import { Edge } from "./edge.ts";
import type { EdgeOptions } from "./edge.ts";
import { Heartbeat } from "./heartbeat.ts";
import { mediaTypeRefusal, refuseFailure, refuseIncoming } from "./incoming.ts";
import type { Incoming } from "./incoming.ts";
import { LegacyRequests } from "./legacy.ts";
import { defaultLimits } from "./limits.ts";
import type { GatewayLimits } from "./limits.ts";
import { ModernRequests, isModernMessage } from "./modern.ts";
import { refuse, tooMany } from "./refusal.ts";
import type { HttpRefusal } from "./refusal.ts";
import type { Body, HttpReply, HttpRequest, ReplyHeaders } from "./request.ts";
import { Sessions } from "./sessions.ts";
import { StandingStreams } from "./standing-streams.ts";

export interface HttpOptions extends AuthenticationOptions, EdgeOptions {
  limits?: Partial<GatewayLimits> | undefined;
  onLog?: ((line: string) => void) | undefined;
}

/** What HTTP needs of the rest of the gateway. */
export interface HttpSettings extends HttpOptions {
  dispatcher: Dispatcher;
  logLevels: LogLevels;
  seal: Seal;
  /** With the limits of these options. */
  ledger: Ledger;
  endpoint(bundle: string | undefined): Endpoint | undefined;
  approvals?: Omit<ApprovalApiSettings, "authenticate"> | undefined;
}

const methods = "GET, POST, DELETE";

function isServed(method: string): boolean {
  return method === "POST" || method === "GET" || method === "DELETE";
}

/** A POST whose answer is not complete. */
interface Posted {
  incoming: Incoming;
  place: number;
  isReleased: boolean;
}

/** Everything between a request and the dispatcher: who may come in, which path, which era. */
export class HttpFront {
  readonly limits: GatewayLimits;
  readonly connections: Connections;
  readonly #settings: HttpSettings;
  readonly #edge: Edge;
  readonly #authenticate: Authentication;
  readonly #approvals: ApprovalApi | undefined;
  readonly #use: CallerUse;
  readonly #sessions: Sessions;
  readonly #modern: ModernRequests;
  readonly #legacy: LegacyRequests;
  readonly #standing: StandingStreams;
  /** Replies to POST requests that are not complete. */
  readonly #open = new Slots<HttpReply>();
  #isClosing = false;
  #onAnswered: (() => void) | undefined;

  constructor(settings: HttpSettings) {
    const limits = { ...defaultLimits, ...settings.limits };
    const use = new CallerUse(limits.requestsPerCaller);
    const heartbeat = new Heartbeat(limits.keepAliveMs, (error) => this.#logFailure(error));
    const { dispatcher, logLevels, seal, ledger } = settings;
    this.limits = limits;
    this.connections = new Connections(ledger);
    this.#settings = settings;
    this.#edge = new Edge(settings);
    const authenticate = (this.#authenticate = createAuthentication(settings));
    this.#approvals = settings.approvals && new ApprovalApi({ ...settings.approvals, authenticate });
    this.#use = use;
    const standing = (this.#standing = new StandingStreams(authenticate, limits.authenticateMs));
    this.#sessions = new Sessions({ dispatcher, logLevels, seal, limits, ledger, heartbeat });
    this.#modern = new ModernRequests({ dispatcher, ledger, heartbeat, limits, standing });
    this.#legacy = new LegacyRequests({ sessions: this.#sessions, ledger, heartbeat, limits, standing });
  }

  /** What is held for clients right now. */
  get held(): { sessions: number; streams: number; requests: number; callers: number; replayBytes: number } {
    const { ledger } = this.#settings;
    const [sessions, streams] = [this.#sessions.size, ledger.held("streams").count];
    const replayBytes = ledger.held("replay").bytes;
    return { sessions, streams, requests: this.#open.size, callers: this.#use.size, replayBytes };
  }

  readonly handle = (request: HttpRequest, reply: HttpReply): void => {
    try {
      this.#handle(request, reply)?.catch((error: unknown) => this.#fail(reply, error));
    } catch (error) {
      this.#fail(reply, error);
    }
  };

  /**
   * Lets requests under way finish, at most for `drainMs`, and ends everything that listens at once. What is left then
   * is cancelled, and so are all sessions.
   */
  async close(drainMs: number): Promise<void> {
    this.#isClosing = true;
    this.#modern.endListening();
    this.#sessions.endListening();
    if (this.#open.size > 0 && drainMs > 0) {
      using deadline = startDeadline(drainMs);
      await new Promise<void>((resolve) => {
        this.#onAnswered = resolve;
        deadline.signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    this.#standing.close();
    this.#modern.close();
    this.#sessions.close();
    for (const reply of this.#open) reply.destroy();
  }

  #handle(request: HttpRequest, reply: HttpReply): Promise<void> | void {
    const refusal = this.#edge.refusal(request);
    if (refusal) return refuse(reply, refusal);
    const { path } = request;
    if (path === "/healthz") return this.#health(request, reply);
    if (ApprovalApi.has(path) && this.#approvals) return this.#approvals.handle(request, reply);
    const bundle = path === "/mcp" ? undefined : bundleIn(path);
    const cors = this.#edge.cors(request);
    if (bundle === null)
      return refuse(reply, { status: 404, message: "Not found. The endpoint is /mcp." }, cors);
    const preflight = this.#edge.preflight(request, methods);
    if (preflight) return reply.send(204, preflight);
    if (!isServed(request.method))
      return refuse(
        reply,
        { status: 405, message: "Method not allowed.", headers: { allow: methods } },
        cors,
      );
    const enter = (caller: string | HttpRefusal): void => {
      if (typeof caller !== "string") return refuse(reply, caller, cors);
      const endpoint = this.#settings.endpoint(bundle);
      if (!endpoint) return refuse(reply, { status: 404, message: "There is no such bundle." }, cors);
      if (this.#isClosing) return refuse(reply, closing, cors);
      const repeated = endpoint.passedNames.find((name) => request.isRepeated?.(name));
      // Joined, they would be a credential that neither the client nor a proxy has sent.
      if (repeated !== undefined) return refuse(reply, saidTwice(repeated), cors);
      if (connection?.admit(caller) === false) return refuse(reply, noRoom, cors);
      return this.#serve({ request, reply, cors, caller, endpoint });
    };
    const { connection } = request;
    const caller = this.#authenticate(request);
    if (!(caller instanceof Promise)) return enter(caller);
    return (connection?.asking(caller) ?? caller).then(enter);
  }

  #serve(incoming: Incoming): void {
    const { request, caller } = incoming;
    if (request.method !== "POST" && isModernRevision(request.header("mcp-protocol-version")))
      return refuseIncoming(incoming, onlyPost);
    if (request.method === "GET") return this.#legacy.listen(incoming);
    if (request.method === "DELETE") return this.#legacy.end(incoming);
    const refusal = mediaTypeRefusal(request);
    if (refusal) return refuseIncoming(incoming, refusal);
    if (!this.#use.take(caller))
      return refuseIncoming(incoming, tooMany(429, "Too many of your requests are under way."));
    if (request.connection) request.connection.open++;
    const posted: Posted = { incoming, place: this.#open.add(incoming.reply), isReleased: false };
    request.body(this.limits.bodyBytes, (body) => {
      try {
        const answering = this.#receive(posted, body);
        if (!answering) return this.#answered(posted);
        answering.then(
          () => this.#answered(posted),
          (error: unknown) => this.#broken(posted, error),
        );
      } catch (error) {
        this.#broken(posted, error);
      }
    });
  }

  #receive(posted: Posted, body: Body): Promise<void> | void {
    const { incoming } = posted;
    if (body === "gone") return incoming.reply.destroy();
    if (!body) return refuseIncoming(incoming, { status: 413, message: tooLarge(this.limits.bodyBytes) });
    return this.#dispatch(posted, body);
  }

  #dispatch(posted: Posted, body: Buffer): Promise<void> | void {
    const { incoming } = posted;
    let batch: Buffer[] | undefined;
    let messages: ClientMessage[];
    try {
      batch = readBatch(body, this.limits.batchMessages);
      messages = batch ? batch.map((one) => readMessage(one)) : [readMessage(body)];
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error;
      return refuseFailure(incoming, error);
    }
    const [first] = messages;
    if (batch || !first || !isModernMessage(incoming.request, first))
      return this.#legacy.serve(incoming, messages, batch !== undefined);
    // What listens counts as a stream.
    if (first.kind === "request" && first.method === "subscriptions/listen") this.#release(posted);
    return this.#modern.serve(incoming, first);
  }

  #health(request: HttpRequest, reply: HttpReply): void {
    if (request.method !== "GET" && request.method !== "HEAD")
      return refuse(reply, { status: 405, message: "Method not allowed.", headers: { allow: "GET, HEAD" } });
    const headers: ReplyHeaders = { "content-type": "application/json" };
    const status = this.#isClosing ? "closing" : "ok";
    reply.send(this.#isClosing ? 503 : 200, headers, [JSON.stringify({ status })]);
  }

  #broken(posted: Posted, error: unknown): void {
    this.#answered(posted);
    this.#fail(posted.incoming.reply, error);
  }

  /** It no longer counts as one of the caller's requests. */
  #release(posted: Posted): void {
    if (posted.isReleased) return;
    posted.isReleased = true;
    const { caller, request } = posted.incoming;
    this.#use.release(caller);
    if (request.connection) request.connection.open--;
  }

  #answered(posted: Posted): void {
    this.#release(posted);
    this.#open.remove(posted.place);
    if (this.#open.size === 0) this.#onAnswered?.();
  }

  /** Nothing of an unexpected error is told to the client. */
  #fail(reply: HttpReply, error: unknown): void {
    this.#logFailure(error);
    try {
      refuse(reply, { status: 500, code: -32_603, message: "Internal error" });
    } catch {
      reply.destroy();
    }
  }

  #logFailure(error: unknown): void {
    this.#settings.onLog?.(`A request failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Modern clients have no session to listen in or to end. */
const onlyPost = { status: 405, message: "This revision has only POST.", headers: { allow: "POST" } };

const closing = tooMany(503, "The gateway is closing.");

const noRoom: HttpRefusal = {
  ...tooMany(503, "Too many connections are in use. Close some of yours, or try again later."),
  headers: { "retry-after": "1", connection: "close" },
};

function saidTwice(header: string): HttpRefusal {
  return { status: 400, message: `The header ${header} may be sent only once.` };
}

function tooLarge(bytes: number): string {
  return `The body is longer than ${bytes} bytes.`;
}

/** The bundle that a path names; null if it is not the path of one. */
function bundleIn(path: string): string | null {
  const name = /^\/mcp\/([^/]+)$/.exec(path)?.[1];
  if (name === undefined) return null;
  try {
    return decodeURIComponent(name);
  } catch {
    return "";
  }
}
