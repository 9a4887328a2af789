import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import { createHub } from "../../src/index.ts";
import type { ConfigLiteral, Hub, HubOptions } from "../../src/index.ts";

type Fields = Record<string, unknown>;

interface Message {
  id?: string | number;
  method?: string;
  params?: Fields;
}

export const object = { type: "object" };
export const named = (...names: string[]): Fields[] => names.map((name) => ({ name, inputSchema: object }));

export async function hubOf(
  servers: ConfigLiteral["servers"],
  options: HubOptions = {},
  rest: Partial<ConfigLiteral> = {},
): Promise<Hub> {
  const hub = await createHub({ servers, ...rest }, options);
  onTestFinished(() => hub.close());
  return hub;
}

/** A legacy in-process server whose lists a test can change while the hub uses it. */
export class ListServer {
  tools: Fields[] = [];
  prompts: Fields[] = [];
  resources: Fields[] = [];
  /** Replaces the default answer with a result or an error, once the promise settles. */
  readonly answers = new Map<string, (params: Fields) => Fields | Error | Promise<Fields | Error>>();
  /** The methods of all requests, in order. */
  readonly heard: string[] = [];
  connects = 0;
  /** Rejects connections. */
  isDown = false;
  #transport: Transport | undefined;

  constructor(lists: Partial<Pick<ListServer, "tools" | "prompts" | "resources">> = {}) {
    Object.assign(this, lists);
  }

  get entry(): ConfigLiteral["servers"][string] {
    return { server: this };
  }

  count(method: string): number {
    return this.heard.filter((one) => one === method).length;
  }

  async connect(transport: Transport): Promise<void> {
    this.connects++;
    if (this.isDown) throw new Error("down");
    this.#transport = transport;
    const onmessage = (message: JSONRPCMessage) => void this.#answer(message as Message, transport);
    Object.assign(transport, { onmessage });
    await transport.start();
  }

  changed(kind: "tools" | "prompts" | "resources"): void {
    void this.#transport?.send({ jsonrpc: "2.0", method: `notifications/${kind}/list_changed` });
  }

  /** Breaks the connection. */
  async drop(): Promise<void> {
    await this.#transport?.close();
  }

  async #answer({ id, method = "", params = {} }: Message, transport: Transport): Promise<void> {
    if (id === undefined) return;
    this.heard.push(method);
    const answer = await (this.answers.get(method) ?? (() => this.#usual(method, params)))(params);
    const body =
      answer instanceof Error ? { error: { code: -32_603, message: answer.message } } : { result: answer };
    await transport.send({ jsonrpc: "2.0", id, ...body }).catch(() => undefined);
  }

  #usual(method: string, params: Fields): Fields | Error {
    const tells = { listChanged: true };
    switch (method) {
      case "initialize":
        return {
          protocolVersion: "2025-06-18",
          capabilities: { tools: tells, prompts: tells, resources: tells },
          serverInfo: { name: "lists", version: "1" },
        };
      case "tools/list":
        return { tools: this.tools };
      case "prompts/list":
        return { prompts: this.prompts };
      case "resources/list":
        return { resources: this.resources };
      case "resources/templates/list":
        return { resourceTemplates: [] };
      case "prompts/get":
        return { messages: [{ role: "user", content: { type: "text", text: String(params["name"]) } }] };
      case "tools/call":
        return { content: [{ type: "text", text: JSON.stringify(params["arguments"]) }] };
      default:
        return new Error("Method not found");
    }
  }
}
