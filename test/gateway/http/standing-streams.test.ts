import { expect, it } from "vitest";
import { createGateway } from "../../../src/gateway/index.ts";
import { openHub } from "../../servers/hub-fixture.ts";
import { HttpWire } from "../clients/http-wire.ts";
import { openClient } from "../clients/open-client.ts";

const ways = ["refused", "somebody else", "not decided"] as const;

it.each(ways.flatMap((way) => (["legacy", "modern"] as const).map((era) => [era, way] as const)))(
  "a %s client loses its stream when what it was opened with is %s; others keep theirs",
  async (era, way) => {
    let isOver = false;
    const looked = new Map<string, number>();
    const authenticate = ({ headers }: { headers: Headers }) => {
      const caller = headers.get("authorization")?.slice(7) ?? "";
      looked.set(caller, (looked.get(caller) ?? 0) + 1);
      if (!isOver || caller === "bob") return caller;
      if (way === "not decided") throw new Error("no answer");
      return way === "refused" ? undefined : "eve";
    };
    await using hub = await openHub({});
    const gateway = createGateway(hub, { authenticate, limits: { authenticateMs: 20 } });
    const { url } = await gateway.listen();
    const ended = new Map<string, Promise<void>>();
    for (const caller of ["ada", "bob"]) {
      const headers = { authorization: `Bearer ${caller}` };
      const wire = new HttpWire({ url, headers });
      await openClient(era, wire);
      const response = await fetch(url, standingRequest(era, wire, headers));
      expect(response.status).toBe(200);
      const over = () => undefined;
      ended.set(caller, response.text().then(over, over));
    }
    let isBobOver = false;
    void ended.get("bob")?.then(() => (isBobOver = true));
    isOver = true;
    await ended.get("ada");
    const before = looked.get("bob") ?? 0;
    await expect.poll(() => looked.get("bob") ?? 0).toBeGreaterThan(before + 1);
    expect(isBobOver).toBe(false);
    await gateway.close({ drainMs: 0 });
  },
);

function standingRequest(
  era: "legacy" | "modern",
  wire: HttpWire,
  headers: Record<string, string>,
): RequestInit {
  if (era === "legacy")
    return {
      headers: { ...headers, accept: "text/event-stream", "mcp-session-id": wire.session ?? "" },
    };
  const revision = "2026-07-28";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const method = "subscriptions/listen";
  const params = { _meta, notifications: { toolsListChanged: true } };
  return {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": revision,
      "mcp-method": method,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  };
}
