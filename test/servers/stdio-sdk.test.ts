import { Client } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { StdioTransport } from "../../src/servers/transports/stdio/transport.ts";
import { nodeProgram, patient, processesWith, result, stdioFixture } from "./stdio-fixture.ts";

const stdio = stdioFixture();

describe("M20 the SDK's client on our stdio transport", () => {
  it("connects to an old server after one probe, in one process, and shares the pipe with the lane", async () => {
    const processes = stdio.tree();
    const transport = new StdioTransport({ processes, program: nodeProgram("good.mjs") });
    const client = new Client({ name: "t", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(transport);
    expect(client.getProtocolEra()).toBe("legacy");
    const [tools, echo] = await Promise.all([
      client.listTools(),
      result(transport.lane.request("echo", { n: 1 }, patient)),
    ]);
    expect(tools.tools.map(({ name }) => name)).toEqual(["echo"]);
    expect(echo).toMatchObject({ n: 1 });
    expect(processesWith(processes.owner)).toHaveLength(1);
    await client.close();
    expect(processesWith(processes.owner)).toEqual([]);
  });

  it("takes a silent server for an old one instead of failing", async () => {
    const script = `read probe; read init; id=$(printf '%s' "$init" | sed 's/.*"id":\\([0-9]*\\).*/\\1/')
      printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}\\n' "$id"
      cat >/dev/null`;
    const program = { server: "silent", command: "sh", args: ["-c", script] };
    const transport = new StdioTransport({ processes: stdio.tree(), program });
    const versionNegotiation = { mode: "auto" as const, probe: { timeoutMs: 300 } };
    const client = new Client({ name: "t", version: "1" }, { versionNegotiation });
    await client.connect(transport);
    expect(client.getServerVersion()?.name).toBe("s");
    await client.close();
  });

  it("learns of a server that ends during the handshake", async () => {
    const program = { server: "s", command: "sh", args: ["-c", "echo no >&2; exit 3"] };
    const transport = new StdioTransport({ processes: stdio.tree(), program });
    const client = new Client({ name: "t", version: "1" });
    await expect(client.connect(transport)).rejects.toThrow(/closed|exited/i);
    expect(transport.lost).toMatchObject({ code: "server-exited", data: { exitCode: 3, stderr: "no\n" } });
  });

  it("survives messages that are none", async () => {
    const transport = await stdio.open(nodeProgram("good.mjs"));
    const client = new Client({ name: "t", version: "1" });
    const errors: Error[] = [];
    const messages = [
      `{}`,
      `{"jsonrpc":"2.0","id":{},"method":3}`,
      `{"id":"p99","result":{}}`,
      `{"jsonrpc":"2.0","id":1}`,
    ];
    const last = `{"jsonrpc":"2.0","id":"p1","result":{"ok":1}}`;
    Object.assign(transport, { start: async () => undefined });
    Object.assign(client, { onerror: (error: Error) => errors.push(error) });
    await client.connect(transport);
    const base64 = Buffer.from([...messages, last, ""].join("\n")).toString("base64");
    expect(await result(transport.lane.request("raw", { base64 }, patient))).toEqual({ ok: 1 });
    expect(errors).toHaveLength(4);
    expect(await client.listTools()).toMatchObject({ tools: [{ name: "echo" }] });
  });
});
