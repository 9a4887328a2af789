import { join } from "node:path";
import { vi } from "vitest";
import { createGateway } from "../../src/gateway/index.ts";
import type { GatewayOptions } from "../../src/gateway/index.ts";
import type { Hub, HubOptions, WaitingQuestion } from "../../src/index.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { openFolder, openHub, openLogged } from "../servers/hub-fixture.ts";
import type { ClientOptions, Era, Fields } from "./clients/client.ts";
import { HttpWire } from "./clients/http-wire.ts";
import { openClient } from "./clients/open-client.ts";

export const token = "a-token-for-clients-only";
export const approvalKey = "a-key-for-people-only";
const sealKey = Buffer.alloc(32, 7);
const approvalsKey = async () => Buffer.alloc(32, 9);
export const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };
export const forms = { elicitation: {} };
export const call = { name: "it__add", arguments: { a: 1, b: 2 } };
export const sum = { content: [{ type: "text", text: '{"sum":3}' }] };

export interface WaitingOptions {
  approvals?: object;
  gateway?: GatewayOptions;
  hub?: HubOptions;
  /** In place of the settings that make every call need approval. */
  settings?: object;
  script?: Script;
}

/** A gateway whose calls need approval. Each `start` is one more process, as far as it can tell. */
export async function openWaiting({
  approvals,
  gateway: own,
  hub: hubOptions,
  settings: asked = { approval: "prompt" },
  script,
}: WaitingOptions = {}) {
  const folder = await openFolder();
  const server = await openLogged(script);
  const path = join(folder.path, "state.sqlite");
  const settings = { ...asked, approvals: { queue: true, ...approvals } };
  const stops: (() => Promise<void>)[] = [];
  /** `changes` are to the server's entry. */
  const start = async (changes: object = {}) => {
    const store = await openSqliteStore({ path }, () => {});
    const hub = await openHub(
      { it: { ...server.entry, ...changes } },
      { store, approvalsKey, ...hubOptions },
      settings,
    );
    await hub.tools();
    const gateway = createGateway(hub, { token, approvalKey, sealKey, ...own });
    const { url, port } = await gateway.listen();
    const clients: { disconnect(): void }[] = [];
    let isOpen = true;
    /** Clients that stay read what they were sent last. */
    const stop = async ({ drainMs = 0, clientsStay = false } = {}) => {
      if (!isOpen) return;
      isOpen = false;
      await gateway.close({ drainMs });
      if (!clientsStay) for (const client of clients) client.disconnect();
      await hub.close();
      await store.close();
    };
    stops.push(stop);
    const api = (
      id = "",
      init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {},
      key = approvalKey,
    ) =>
      fetch(`http://127.0.0.1:${port}/api/approvals${id === "" ? "" : `/${id}`}`, {
        ...init,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...init.headers },
      });
    return {
      hub,
      port,
      stop,
      api,
      post: (id: string, body: unknown, key?: string) =>
        api(id, { method: "POST", body: JSON.stringify(body) }, key),
      async connect(era: Era, capabilities: Fields = {}, options: ClientOptions = {}) {
        const headers = { authorization: `Bearer ${token}` };
        const client = await openClient(era, new HttpWire({ url, headers }), { capabilities, ...options });
        clients.push(client);
        return client;
      },
    };
  };
  return {
    start,
    /** The calls that the server got. */
    sent: () => server.heard().filter(({ method }) => method === "tools/call"),
    async [Symbol.asyncDispose]() {
      for (const stop of stops) await stop();
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** The only question that waits. */
export function waitingQuestion(hub: Hub): Promise<WaitingQuestion> {
  return vi.waitFor(
    async () => {
      const [first] = await hub.approvals.waiting();
      if (!first) throw new Error("nothing waits");
      return first;
    },
    { timeout: 10_000 },
  );
}
