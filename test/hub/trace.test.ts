import { describe, expect, it } from "vitest";
import type { TraceEntry } from "../../src/host.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { openFake, openHub } from "../servers/hub-fixture.ts";

const token = "mzQ8vX2kLp09RtYwBn4cTh7e";

function methodsOf(entries: readonly TraceEntry[], kind: TraceEntry["kind"]): unknown[] {
  return entries
    .filter((entry) => entry.kind === kind)
    .map(({ message }) => (message as { method?: string }).method ?? "answer");
}

describe("M12 a trace of every message", () => {
  it("shows both ways in order, with times, for a program", async () => {
    const seen: TraceEntry[] = [];
    let now = 1_000;
    const options = { onTrace: (entry: TraceEntry) => void seen.push(entry), clock: () => now++ };
    const hub = await openHub({ files: fakeStdio({ versions: "legacy" }) }, options);
    await hub.callTool("mcp__files__echo", { text: "hi" });
    await hub.close();
    expect(seen[0]).toMatchObject({ kind: "opened", server: "files", transport: "stdio" });
    const sent = methodsOf(seen, "sent");
    expect(sent).toContain("initialize");
    expect(sent.indexOf("tools/call")).toBeGreaterThan(sent.indexOf("tools/list"));
    expect(methodsOf(seen, "received")).toContain("answer");
    expect(seen.at(-1)).toMatchObject({ kind: "closed", server: "files" });
    expect(seen.every(({ at }, index) => at > (seen[index - 1]?.at ?? 0))).toBe(true);
    const call = seen.find(({ message }) => (message as { method?: string })?.method === "tools/call");
    expect(call).toMatchObject({ message: { params: { arguments: { text: "hi" } } } });
    expect(call?.bytes).toBeGreaterThan(50);
  });

  it("hides what is sent as a credential, what a server repeats of it, and arguments that are named like secrets", async () => {
    const seen: TraceEntry[] = [];
    await using fake = await openFake({});
    const server = { type: "http" as const, url: fake.url, headers: { Authorization: `Bearer ${token}` } };
    await using hub = await openHub(
      { remote: server },
      { onTrace: (entry: TraceEntry) => void seen.push(entry) },
    );
    const args = { text: `it is ${token}`, password: "hunter2", nested: { api_key: "key-0001" } };
    const result = await hub.callTool("mcp__remote__echo", args);
    expect(JSON.stringify(result)).toContain(token);
    const text = JSON.stringify(seen);
    expect(text).toContain("it is (hidden)");
    for (const secret of [token, "key-0001", "hunter2"]) expect(text).not.toContain(secret);
    const call = seen.find(({ message }) => (message as { method?: string })?.method === "tools/call");
    expect(call).toMatchObject({ message: { params: { arguments: { password: "(hidden)" } } } });
  });

  it("shows what is not a message, and why a connection ended", async () => {
    const seen: TraceEntry[] = [];
    const binary = { base64: Buffer.from([0, 1, 2, 255, 27, 91, 50, 74, 10]).toString("base64") };
    const script = { start: [{ raw: binary }], on: [{ when: { method: "tools/list" }, do: [{ exit: 3 }] }] };
    await using hub = await openHub(
      { noisy: fakeStdio(script) },
      { onTrace: (entry: TraceEntry) => void seen.push(entry) },
    );
    await hub.tools();
    expect(seen.find(({ kind }) => kind === "skipped")?.text).toContain("\u0001");
    expect(seen.find(({ kind }) => kind === "closed")?.error).toMatchObject({
      code: "server-exited",
      message: expect.stringContaining("code 3"),
    });
  });

  it("does not let an observer that throws disturb a call", async () => {
    const onTrace = () => {
      throw new Error("mine");
    };
    await using hub = await openHub({ files: fakeStdio({}) }, { onTrace });
    await expect(hub.callTool("mcp__files__echo", { text: "hi" })).resolves.toHaveProperty("content");
  });
});
