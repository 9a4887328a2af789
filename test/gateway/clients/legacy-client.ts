import { ClientRefusal, TestClient } from "./client.ts";
import type { ClientOptions, Fields, Filter, RequestOptions, Sent } from "./client.ts";
import { HttpWire } from "./http-wire.ts";
import type { Wire } from "./wire.ts";

/** `initialize`, sessions, questions that are pushed. */
export class LegacyClient extends TestClient {
  readonly era = "legacy";
  readonly #revision: string;
  #isStanding = false;

  constructor(wire: Wire, options: ClientOptions = {}) {
    super(wire, options);
    this.#revision = options.revision ?? "2025-11-25";
  }

  async open(): Promise<void> {
    this.server = await this.result(
      this.once("initialize", {
        protocolVersion: this.#revision,
        capabilities: this.capabilities,
        clientInfo: { name: "matrix", version: "1" },
      }),
    );
    if (this.wire instanceof HttpWire) this.wire.version = String(this.server["protocolVersion"]);
    await this.notify("notifications/initialized");
  }

  once(method: string, params: Fields = {}, options: RequestOptions = {}): Sent {
    const { progressToken, rawParams, headers = {} } = options;
    const meta =
      progressToken === undefined ? params["_meta"] : { ...(params["_meta"] as Fields), progressToken };
    const text =
      rawParams === undefined
        ? JSON.stringify({ ...params, _meta: meta })
        : `{"_meta":${JSON.stringify(meta ?? {})},${rawParams.slice(1)}`;
    return this.issue((id) => ({
      text: `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${text}}`,
      headers,
    }));
  }

  request(method: string, params?: Fields, options?: RequestOptions): Sent {
    return this.once(method, params, options);
  }

  async notify(method: string, params: Fields = {}): Promise<void> {
    await this.#post({ method, params });
  }

  async listen({ uris = [] }: Filter): Promise<void> {
    if (!this.#isStanding) {
      this.#isStanding = true;
      const { status } = await this.wire.openStanding();
      if (status !== 200) throw new Error(`the standing stream was refused with ${status}`);
    }
    for (const uri of uris) await this.result(this.once("resources/subscribe", { uri }));
  }

  async setLogLevel(level = "emergency"): Promise<void> {
    await this.result(this.once("logging/setLevel", { level }));
  }

  protected cancel(id: number): void {
    void this.notify("notifications/cancelled", { requestId: id, reason: "changed my mind" });
  }

  protected question(id: unknown, method: string, params: Fields): void {
    if (method === "ping") return void this.#post({ id, result: {} });
    void (async () => this.answer(method, params))().then(
      (result) => this.#post({ id, result }),
      (error: unknown) => {
        const code = error instanceof ClientRefusal ? error.code : -32_603;
        return this.#post({ id, error: { code, message: (error as Error).message } });
      },
    );
  }

  async #post(message: Fields): Promise<void> {
    await this.wire.send(JSON.stringify({ jsonrpc: "2.0", ...message }), { stream: "aside" }).catch(() => {});
  }
}
