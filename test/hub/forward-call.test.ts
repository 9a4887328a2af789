import { describe, expect, it } from "vitest";
import { ParsedParams } from "../../src/host.ts";
import { Refusal } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { openHub, openLogged } from "../servers/hub-fixture.ts";

const modern = { versions: "modern" as const };
const legacy = { versions: "legacy" as const };
const parsed = (text: string) => ParsedParams.parse(Buffer.from(text, "latin1"));

describe("M44 a forwarded call", () => {
  it("reaches the server complete with unknown fields and `_meta`; only the tool's name changes", async () => {
    await using logged = await openLogged(legacy);
    await using hub = await openHub({ it: logged.entry });
    await hub.forwardCall("mcp__it__echo", {
      name: "whatever the client called it",
      arguments: { deep: [1, { two: 3 }] },
      unknown: { field: true },
      _meta: { "example.com/trace": "t-1" },
    });
    const sent = logged.heard().find(({ method }) => method === "tools/call")?.params;
    expect(sent).toMatchObject({
      name: "echo",
      arguments: { deep: [1, { two: 3 }] },
      unknown: { field: true },
      _meta: { "example.com/trace": "t-1" },
    });
  });

  it("keeps integers beyond 2^53 in both directions if it is passed as bytes", async () => {
    const big = "12345678901234567890123";
    const answer = { raw: `{"jsonrpc":"2.0","id":$id,"result":{"content":[],"n":${big}}}\n` };
    const on = [{ when: { tool: "echo" }, do: [answer] }];
    await using logged = await openLogged({ ...legacy, on });
    await using hub = await openHub({ it: logged.entry });
    const params = parsed(`{"name":"x","arguments":{"n":${big}},"_meta":{"m":${big}},"more":[${big}]}`);
    const result = await hub.forwardCall("it.echo", params, { raw: true });
    expect("bytes" in result && result.bytes.toString()).toBe(`{"content":[],"n":${big}}`);
    const line = logged.lines().find((text) => text.includes("tools/call")) ?? "";
    expect(line.match(new RegExp(big, "g"))).toHaveLength(3);
    expect(line).toContain('"name":"echo"');
    expect(line).toContain('"progressToken"');
  });

  it("is one message for the server, however its bytes are laid out: no line in them becomes a request of its own", async () => {
    await using logged = await openLogged(legacy);
    await using hub = await openHub({ it: { ...logged.entry, tools: { deny: ["fail"] } } });
    const hidden =
      '{"jsonrpc":"2.0","id":"evil","method":"tools/call","params":{"name":"fail","arguments":{}}}';
    const params = parsed(`{"name":"echo","arguments":{"n":1.50,"x":[\n${hidden}\r\n]}}`);
    expect(await hub.forwardCall("it.echo", params)).toHaveProperty("result");
    expect(JSON.stringify(await hub.callTool("it.count"))).not.toContain("fail");
    const pretty = JSON.stringify({ arguments: { deep: { big: 1 } } }, null, 2);
    expect(await hub.forwardCall("it.echo", parsed(pretty))).toHaveProperty("result");
  });

  it("means one thing only: a name in the bytes changes nothing, and keys that stand twice are refused", async () => {
    await using logged = await openLogged(legacy);
    await using hub = await openHub({ it: { ...logged.entry, tools: { deny: ["fail"] } } });
    await hub.forwardCall("it.echo", parsed('{"name":"fail","arguments":{"n":12345678901234567890}}'));
    const names = logged.heard().flatMap(({ params }) => params?.["name"] ?? []);
    expect(names).toEqual(["echo"]);
    const twice = parsed('{"arguments":{"deep":[{"p":"/etc/passwd","p":"/ok"}],"n":1e400}}');
    await expect(hub.forwardCall("it.echo", twice)).rejects.toMatchObject({ code: "usage-invalid" });
    for (const text of ["", "[1]", "{", '"x"', "{} {}", '{"a":"\xff"}', '{"a":01}'])
      expect(() => parsed(text), text).toThrow(expect.objectContaining({ code: "usage-invalid" }));
  });

  it("brings an answer as bytes only when it is one JSON object, on one line", async () => {
    const broken = ['{"content":[{]}', '{"content":[],"a":{"b"}}', '{"content":["\t"]}'];
    const say = (result: string) => ({ raw: `{"jsonrpc":"2.0","id":$id,"result":${result}}\n` });
    const fine = '{"content":[],"resultType":"input\\u005frequired"}';
    const on = [
      ...broken.map((result, index) => ({ when: { tool: "echo", nth: index + 1 }, do: [say(result)] })),
      { when: { tool: "echo", nth: broken.length + 1 }, do: [say(fine)] },
    ];
    await using hub = await openHub({ it: fakeStdio({ ...legacy, on }) });
    for (const result of broken) {
      const failed = hub.forwardCall("it.echo", {}, { raw: true, timeoutMs: 300 });
      await expect(failed, result).rejects.toMatchObject({ code: "call-timeout" });
    }
    expect(await hub.forwardCall("it.echo", {}, { raw: true })).toMatchObject({
      resultType: "input_required",
    });
  });

  it("is passed on as bytes however deeply its result is nested, and fails alone where it has to be read", async () => {
    const deep = "[".repeat(600) + "]".repeat(600);
    const say = { raw: `{"jsonrpc":"2.0","id":$id,"result":{"content":[],"deep":${deep}}}\n` };
    const on = [{ when: { tool: "echo" }, do: [say] }];
    await using hub = await openHub({ it: fakeStdio({ ...legacy, on }) });
    const other = hub.forwardCall("it.add", { arguments: { a: 1, b: 2 } }, { raw: true });
    const answer = await hub.forwardCall("it.echo", {}, { raw: true });
    expect("bytes" in answer && answer.bytes.toString("utf8")).toContain(deep);
    await expect(hub.forwardCall("it.echo", {})).rejects.toThrow(/nested/);
    expect(await other).toMatchObject({ isError: false });
  });

  it("brings errors and required input back as they came, and takes the answers along", async () => {
    const failing = [
      { when: { tool: "fail" }, do: [{ error: { code: -32_099, message: "own", data: { a: 1 } } }] },
    ];
    await using hub = await openHub({ it: fakeStdio({ ...modern, on: failing }) });
    expect(await hub.forwardCall("it.fail", { arguments: {} })).toEqual({
      error: { code: -32_099, message: "own", data: { a: 1 } },
    });
    const capabilities = { elicitation: { form: {} } };
    const asked = await hub.forwardCall("it.elicit", { arguments: {} }, { capabilities });
    if ("error" in asked) throw new Error(asked.error.message);
    expect(asked.result).toMatchObject({ resultType: "input_required", inputRequests: { "round-1": {} } });
    const { requestState } = asked.result;
    const inputResponses = { "round-1": { action: "accept", content: { name: "Ada" } } };
    const done = await hub.forwardCall(
      "it.elicit",
      { arguments: {}, inputResponses, requestState },
      { capabilities },
    );
    expect(JSON.stringify(done)).toContain("Ada");
  });

  it("obeys the same rules as any call: visibility, deny, approval, arguments, `toolFilter`", async () => {
    const entry = {
      ...fakeStdio(modern),
      tools: { deny: ["fail"] },
      approval: { tools: { sleep: "deny" as const } },
    };
    await using hub = await openHub({ it: entry }, { toolFilter: ({ name }) => name !== "big" });
    const refused = (id: string, args = {}) =>
      hub.forwardCall(id, { arguments: args }).then(
        () => "went through",
        (error: { code: string }) => error.code,
      );
    expect(await refused("it.fail")).toBe("tool-hidden");
    expect(await refused("it.big")).toBe("tool-hidden");
    expect(await refused("it.sleep", { ms: 1 })).toBe("approval-denied");
    expect(await refused("it.add", { a: "x" })).toBe("arguments-invalid");
    expect(await refused("it.nothing")).toBe("tool-unknown");
    const view = hub.view({ tools: ["echo"] });
    await expect(view.forwardCall("it.add", { arguments: { a: 1, b: 2 } })).rejects.toMatchObject({
      code: "tool-unknown",
    });
    await expect(hub.request("tools/call", { name: "echo" }, { server: "it" })).rejects.toMatchObject({
      code: "usage-invalid",
    });
  });

  it("reports the size of request and answer", async () => {
    await using hub = await openHub({ it: fakeStdio(modern) });
    const sizes: unknown[] = [];
    hub.on("call-end", ({ requestBytes, resultBytes }) => sizes.push([requestBytes, resultBytes]));
    await hub.callTool("it.big", { bytes: 5_000 }, { whole: true });
    expect(sizes).toEqual([[expect.any(Number), expect.any(Number)]]);
    expect((sizes[0] as number[])[1]).toBeGreaterThan(5_000);
  });
});

describe("M44 a request that is passed on", () => {
  it("keeps integers beyond 2^53 of parsed parameters, and refuses keys that stand twice beside them", async () => {
    const big = "12345678901234567890123";
    await using logged = await openLogged(legacy);
    await using hub = await openHub({ it: logged.entry });
    const params = parsed(`{"uri":"file:///a","n":${big},"_meta":{"m":[${big}],"own":1}}`);
    await hub.request("resources/read", params, { server: "it" });
    const line = logged.lines().find((text) => text.includes("resources/read")) ?? "";
    expect(line).toContain(`"n":${big}`);
    expect(line).toContain(`"m":[${big}]`);
    expect(line).toContain('"progressToken"');
    const twice = parsed(`{"uri":"file:///a","uri":"file:///b","n":${big}}`);
    await expect(hub.request("resources/read", twice, { server: "it" })).rejects.toMatchObject({
      code: "usage-invalid",
    });
    expect(logged.lines().filter((text) => text.includes("resources/read"))).toHaveLength(1);
  });

  it("passes the data of a refusal on to the server that asked", async () => {
    const ask = { request: { method: "elicitation/create", params: { message: "?" } } };
    const on = [{ when: { tool: "echo" }, do: [ask, { default: true as const }] }];
    await using logged = await openLogged({ ...legacy, on });
    await using hub = await openHub({ it: logged.entry }, { capabilities: { elicitation: {} } });
    const onQuestion = () => Promise.reject(new Refusal(-32_042, "Not now", { why: "busy" }));
    await hub.forwardCall("it.echo", { arguments: {} }, { onQuestion });
    expect(logged.lines().join("\n")).toContain(
      '"error":{"code":-32042,"message":"Not now","data":{"why":"busy"}}',
    );
  });
});
