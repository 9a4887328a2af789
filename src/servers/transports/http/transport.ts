import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
  type Transport,
  type TransportSendOptions,
} from "@modelcontextprotocol/client";
import { PlugboardError } from "../../../errors.ts";
import { defined } from "../../../lib/record.ts";
import type { Lane, LaneRequest } from "../../rpc/lane.ts";
import { HttpClient, type HttpClientConfig } from "./client.ts";
import {
  explainRefusal,
  type HttpCredentials,
  proving,
  signing,
  signsRequests,
  tokenSource,
} from "./credentials.ts";
import { httpFailure } from "./failure.ts";
import { createHttpFetch } from "./fetch.ts";
import { HttpLane, type HttpLaneSettings } from "./http-lane.ts";
import { ReconnectTimers } from "./reconnect.ts";

export { httpFailure, shouldFallBackToSse } from "./failure.ts";
export { encodeHeaderValue } from "./headers.ts";

export interface HttpTransportOptions extends HttpClientConfig {
  authProvider?: HttpCredentials | undefined;
  /** The `Mcp-Param-*` headers of a modern request, encoded (`encodeHeaderValue`). */
  paramHeaders?: HttpLaneSettings["paramHeaders"];
  /** What else the SDK's transport takes; network, headers and reconnection are ours. */
  sdk?: Omit<
    StreamableHTTPClientTransportOptions,
    "fetch" | "requestInit" | "authProvider" | "reconnectionScheduler"
  >;
}

const goodbyeTimeoutMs = 1_000;

/** Streamable HTTP: the SDK's transport for handshake, lists, pushes and sign-in; `lane` for everything frequent. */
export class HttpTransport implements Transport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport["onmessage"];
  readonly hasPerRequestStream = true;
  readonly #client: HttpClient;
  readonly #sdk: StreamableHTTPClientTransport;
  readonly #httpLane: HttpLane;
  readonly #timers = new ReconnectTimers();
  readonly #credentials: HttpCredentials | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: HttpTransportOptions) {
    const { authProvider, paramHeaders, sdk = {} } = options;
    this.#credentials = authProvider;
    this.#client = new HttpClient(options);
    const fetch = createHttpFetch(this.#client);
    this.#sdk = new StreamableHTTPClientTransport(this.#client.url, {
      reconnectionOptions: {
        initialReconnectionDelay: 1_000,
        maxReconnectionDelay: 30_000,
        reconnectionDelayGrowFactor: 1.5,
        maxRetries: 10,
      },
      ...sdk,
      ...(authProvider && { authProvider }),
      fetch: signing(authProvider, fetch),
      reconnectionScheduler: (reconnect, delayMs) => this.#timers.schedule(reconnect, delayMs),
    });
    this.#httpLane = new HttpLane({
      client: this.#client,
      session: () => ({ id: this.#sdk.sessionId, version: this.#sdk.protocolVersion }),
      token: tokenSource(authProvider),
      paramHeaders,
      pass: (message) => this.#pass(message),
      report: (error) => this.#report(error),
      reissue: authProvider && ((request, headers, signal) => this.#reissue(request, headers, signal)),
      alwaysReissue: () => signsRequests(authProvider),
      fetch: proving(authProvider, fetch),
    });
    const listeners: Pick<Transport, "onmessage" | "onerror"> = {
      onmessage: (message) => {
        if (!this.#httpLane.accept(message)) this.onmessage?.(message);
      },
      onerror: (error) => this.#report(error),
    };
    Object.assign(this.#sdk, listeners);
  }

  get lane(): Lane {
    return this.#httpLane.lane;
  }

  get sessionId(): string | undefined {
    return this.#sdk.sessionId;
  }

  get protocolVersion(): string | undefined {
    return this.#sdk.protocolVersion;
  }

  start(): Promise<void> {
    return this.#sdk.start();
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    return this.#sdk.send(message, options && defined(options));
  }

  setProtocolVersion(version: string): void {
    this.#sdk.setProtocolVersion(version);
  }

  /** The second half of a sign-in in the browser; afterwards connect with a new transport. */
  finishAuth(params: URLSearchParams): Promise<void> {
    return this.#sdk.finishAuth(params);
  }

  /** Says goodbye to a session if the server listens, then ends every request, timer and socket. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#httpLane.close();
    this.#timers.close();
    if (this.#sdk.sessionId !== undefined) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => void (timer = setTimeout(resolve, goodbyeTimeoutMs)));
      await Promise.race([this.#sdk.terminateSession().catch(() => {}), late]);
      clearTimeout(timer);
    }
    await this.#sdk.close();
    await this.#client.close();
    this.onclose?.();
  }

  #pass(message: unknown): void {
    try {
      this.onmessage?.(parseJSONRPCMessage(message));
    } catch (error) {
      this.#report(error as Error);
    }
  }

  #report(error: Error): void {
    if (this.#closing === undefined) this.onerror?.(error);
  }

  /** Resolves only in the sense that the answer arrives; rejects when it cannot any more. */
  #reissue(
    request: LaneRequest,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<void> {
    const { server } = this.#client;
    return new Promise((_resolve, reject) => {
      const onRequestStreamEnd = () => {
        const message = `"${server}" ended its stream without an answer (${request.method}).`;
        reject(new PlugboardError("connection-lost", message, { server, data: { sent: true } }));
      };
      const hadSession = this.#sdk.sessionId !== undefined;
      const explain = () => explainRefusal(this.#credentials);
      this.#sdk
        .send(request, { headers, requestSignal: signal, onRequestStreamEnd })
        .catch((error: unknown) => {
          const { now, redact } = this.#client;
          reject(httpFailure(error, { server, hadSession, now: now(), redact, explain }));
        });
    });
  }
}
