import { TestClient } from "./client.ts";
import type { Answer, ClientOptions, Fields, Filter, RequestOptions, Sent } from "./client.ts";
import type { Wire } from "./wire.ts";

const prefix = "io.modelcontextprotocol";
const version = "2026-07-28";
const maxRounds = 20;

/** No session: every request says who sends it, and a question is an answer. */
export class ModernClient extends TestClient {
  readonly era = "modern";
  #logLevel: string | undefined;

  constructor(wire: Wire, options: ClientOptions = {}) {
    super(wire, options);
  }

  async open(): Promise<void> {
    this.server = await this.result(this.once("server/discover"));
  }

  once(method: string, params: Fields = {}, options: RequestOptions = {}): Sent {
    const { progressToken, rawParams, headers } = options;
    const meta = {
      ...(params["_meta"] as Fields | undefined),
      [`${prefix}/protocolVersion`]: version,
      [`${prefix}/clientInfo`]: { name: "matrix", version: "1" },
      [`${prefix}/clientCapabilities`]: this.capabilities,
      ...(this.#logLevel !== undefined && { [`${prefix}/logLevel`]: this.#logLevel }),
      ...(progressToken !== undefined && { progressToken }),
    };
    const written =
      rawParams === undefined
        ? JSON.stringify({ ...params, _meta: meta })
        : `{"_meta":${JSON.stringify(meta)},${rawParams.slice(1)}`;
    return this.issue((id) => ({
      text: `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${written}}`,
      headers: { ...headersOf(method, params), ...headers },
    }));
  }

  request(method: string, params: Fields = {}, options?: RequestOptions): Sent {
    const first = this.once(method, params, options);
    let current = first;
    const rounds = async (): Promise<Answer> => {
      for (let round = 0; round < maxRounds; round++) {
        const answer = await current.answer;
        if (answer.result?.["resultType"] !== "input_required") return answer;
        current = this.once(method, { ...params, ...(await this.respond(answer.result)) }, options);
      }
      throw new Error("the server does not stop asking");
    };
    const answer = rounds();
    answer.catch(() => {});
    return { id: first.id, answer, cancel: () => current.cancel() };
  }

  /** What to repeat a request with. */
  async respond({ inputRequests = {}, requestState }: Fields): Promise<Fields> {
    const asked = Object.entries(inputRequests as Record<string, { method: string; params?: Fields }>);
    for (const [key, { method, params = {} }] of asked)
      this.record({ kind: "question", stream: "answer", method, params, id: key, text: "" });
    const answered = asked.map(async ([key, { method, params = {} }]) => [
      key,
      await this.answer(method, params),
    ]);
    return {
      ...(asked.length > 0 && { inputResponses: Object.fromEntries(await Promise.all(answered)) as Fields }),
      ...(requestState !== undefined && { requestState }),
    };
  }

  async notify(method: string, params: Fields = {}): Promise<void> {
    await this.wire.send(JSON.stringify({ jsonrpc: "2.0", method, params }), {
      stream: "aside",
      headers: { "mcp-protocol-version": version, "mcp-method": method },
    });
  }

  async listen({ tools, prompts, resources, uris }: Filter): Promise<void> {
    const { id, answer } = this.once("subscriptions/listen", {
      notifications: {
        ...(tools && { toolsListChanged: true }),
        ...(prompts && { promptsListChanged: true }),
        ...(resources && { resourcesListChanged: true }),
        ...(uris && { resourceSubscriptions: uris }),
      },
    });
    const acknowledged = this.sees(
      "an acknowledgement",
      ({ method, params }) =>
        method === "notifications/subscriptions/acknowledged" && subscriptionOf(params) === id,
    );
    const refused = answer.then(({ text }) => {
      throw new Error(`the subscription ended: ${text}`);
    });
    refused.catch(() => {});
    await Promise.race([acknowledged, refused]);
  }

  async setLogLevel(level: string | undefined): Promise<void> {
    this.#logLevel = level;
  }

  protected cancel(id: number, leave: AbortController): void {
    if (this.wire.transport === "http") leave.abort();
    else void this.notify("notifications/cancelled", { requestId: id, reason: "changed my mind" });
  }

  /** A modern server must not ask: recorded as seen, and never answered. */
  protected question(): void {}
}

/** The subscription that a notification belongs to. */
export function subscriptionOf(params: Fields | undefined): unknown {
  return (params?.["_meta"] as Fields | undefined)?.[`${prefix}/subscriptionId`];
}

function headersOf(method: string, { name, uri, taskId }: Fields): Record<string, string> {
  const isCall = ["tools/call", "prompts/get"].includes(method);
  const named = method === "resources/read" ? uri : isCall ? name : taskId;
  return {
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(typeof named === "string" && { "mcp-name": named }),
  };
}
