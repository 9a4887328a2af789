import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PlugboardError } from "../../src/errors.ts";
import type { RpcRequest } from "../../src/servers/rpc/messages.ts";
import { type RequestOptions, Requests } from "../../src/servers/rpc/requests.ts";

const limits: RequestOptions = { timeoutMs: 1000, maxTimeoutMs: 5000 };

function setup(send: (request: RpcRequest) => void | Promise<void> = () => undefined) {
  const sent: RpcRequest[] = [];
  const cancelled: string[] = [];
  const requests = new Requests({
    server: "files",
    send(request) {
      sent.push(request);
      return send(request);
    },
    cancel: (id) => void cancelled.push(id),
  });
  return { requests, sent, cancelled };
}

/** Catches the error immediately, so that it never counts as unhandled. */
const failure = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );
const answer = (id: unknown, rest: object = { result: { ok: true } }) => ({ jsonrpc: "2.0", id, ...rest });
const progress = (progressToken: unknown, rest: object = { progress: 1 }) => ({
  jsonrpc: "2.0",
  method: "notifications/progress",
  params: { progressToken, ...rest },
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("M26 a request has exactly one outcome", () => {
  it("returns the server's own answer, result or error, complete", async () => {
    const { requests } = setup();
    const first = requests.request("tools/call", {}, limits);
    const second = requests.request("tools/call", {}, limits);
    const error = { code: -32001, message: "no", data: { why: [1] } };
    expect(requests.accepts(answer("p2", { error }))).toBe(true);
    expect(requests.accepts(answer("p1", { result: { content: [], "x-new": 1 } }))).toBe(true);
    await expect(first).resolves.toEqual({ result: { content: [], "x-new": 1 } });
    await expect(second).resolves.toEqual({ error });
    expect(requests.inFlight).toBe(0);
  });

  it("requests progress under its own id and does not modify the caller's parameters", () => {
    const { requests, sent } = setup();
    const params = { name: "x", _meta: { progressToken: 7, trace: "t" } };
    void requests.request("tools/call", params, limits).catch(() => undefined);
    expect(sent).toEqual([
      {
        jsonrpc: "2.0",
        id: "p1",
        method: "tools/call",
        params: { name: "x", _meta: { progressToken: "p1", trace: "t" } },
      },
    ]);
    expect(params._meta.progressToken).toBe(7);
    requests.close();
  });

  it("matches a thousand answers in any order to their requests", async () => {
    const { requests, sent } = setup();
    const calls = Array.from({ length: 1000 }, (_, n) => requests.request("echo", { n }, limits));
    for (const { id, params } of sent.toReversed())
      requests.accepts(answer(id, { result: { n: params["n"] } }));
    const answers = await Promise.all(calls);
    expect(answers).toEqual(answers.map((_, n) => ({ result: { n } })));
  });

  it("uses the first of two answers and counts the second", async () => {
    const { requests } = setup();
    const call = requests.request("echo", {}, limits);
    expect(requests.accepts(answer("p1", { result: { n: 1 } }))).toBe(true);
    expect(requests.accepts(answer("p1", { result: { n: 2 } }))).toBe(true);
    await expect(call).resolves.toEqual({ result: { n: 1 } });
    expect(requests.counts).toMatchObject({ duplicate: 1, late: 0 });
  });

  it.each([
    ["both result and error", { result: {}, error: { code: 1, message: "x" } }],
    ["neither", {}],
    ["only null", { result: null }],
    ["a result that is no object", { result: 3 }],
    ["a result that is a list", { result: [] }],
    ["an error without a code", { error: { message: "x" } }],
    ["an error that is a text", { error: "x" }],
    ["members of another case", { Result: {} }],
    ["another protocol", { jsonrpc: "1.0", result: {} }],
  ])("rejects an answer with %s as a protocol error", async (_, rest) => {
    const { requests } = setup();
    const call = requests.request("echo", {}, limits);
    expect(requests.accepts(answer("p1", rest))).toBe(true);
    await expect(call).rejects.toMatchObject({ code: "protocol-error", server: "files" });
    expect(requests.counts.malformed).toBe(1);
  });

  it.each([
    ["a number", answer(1)],
    ["a null id", answer(null)],
    ["an id that was never given out", answer("p2")],
    ["a look-alike", answer("p01")],
    ["a list as id", answer(["p1"])],
    ["a request of the server's own with the same id", { jsonrpc: "2.0", id: "p1", method: "ping" }],
    ["progress of somebody else", progress(1)],
    ["progress without parameters", { jsonrpc: "2.0", method: "notifications/progress" }],
  ])("leaves %s to others", (_, message) => {
    const { requests } = setup();
    void requests.request("echo", {}, limits).catch(() => undefined);
    expect(requests.accepts(message)).toBe(false);
    expect(requests.inFlight).toBe(1);
    requests.close();
  });

  it("can be failed by the transport, once", async () => {
    const { requests } = setup();
    const call = failure(requests.request("echo", {}, limits));
    expect(requests.fail("p1", new PlugboardError("server-exited", "gone"))).toBe(true);
    expect(requests.fail("p1", new PlugboardError("internal", "no"))).toBe(false);
    expect(await call).toMatchObject({ code: "server-exited" });
  });

  it("fails all pending requests with the cause when it is closed", async () => {
    const { requests } = setup();
    const calls = [1, 2, 3].map(() => failure(requests.request("echo", {}, limits)));
    requests.close(new PlugboardError("server-exited", "gone"));
    for (const call of calls) expect(await call).toMatchObject({ code: "server-exited", executed: "maybe" });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("rejects requests after it was closed, with the reason", async () => {
    const { requests, sent } = setup();
    requests.close(new PlugboardError("server-exited", "gone"));
    await expect(requests.request("echo", {}, limits)).rejects.toMatchObject({
      code: "server-exited",
      executed: "no",
    });
    expect(sent).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("pipe");
      },
    ],
    ["rejects", () => Promise.reject(new Error("pipe"))],
  ])("fails a request whose sending %s", async (_, send) => {
    const { requests } = setup(send);
    await expect(requests.request("echo", {}, limits)).rejects.toMatchObject({ code: "connection-lost" });
    expect(requests.inFlight).toBe(0);
  });
});

describe("M26 deadlines", () => {
  it("ends a call that is never answered, notifies the server, and ignores a late answer", async () => {
    const { requests, cancelled } = setup();
    const call = requests.request("echo", {}, limits);
    const failed = failure(call);
    await vi.advanceTimersByTimeAsync(999);
    expect(cancelled).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await failed).toMatchObject({ code: "call-timeout", server: "files" });
    expect(cancelled).toEqual(["p1"]);
    expect(requests.accepts(answer("p1"))).toBe(true);
    expect(requests.accepts(progress("p1"))).toBe(true);
    expect(requests.counts).toMatchObject({ late: 2, duplicate: 0 });
  });

  it("restarts the deadline with every progress notification, up to the maximum", async () => {
    const { requests, cancelled } = setup();
    const seen: unknown[] = [];
    const call = requests.request("echo", {}, { ...limits, onProgress: (step) => seen.push(step) });
    const failed = failure(call);
    for (let step = 1; step <= 6; step++) {
      await vi.advanceTimersByTimeAsync(900);
      requests.accepts(progress("p1", { progress: step, total: 9, message: "busy" }));
    }
    expect(await failed).toMatchObject({ message: expect.stringMatching(/longest time allowed/) });
    expect(seen).toHaveLength(5);
    expect(seen[0]).toMatchObject({ progress: 1, total: 9, message: "busy" });
    expect(cancelled).toEqual(["p1"]);
  });

  it("keeps one timer for all requests, and none once it is idle and closed", async () => {
    const { requests } = setup();
    const calls = Array.from({ length: 50 }, (_, n) =>
      requests.request("echo", {}, { ...limits, timeoutMs: 1000 + n }),
    );
    expect(vi.getTimerCount()).toBe(1);
    const short = requests.request("echo", {}, { ...limits, timeoutMs: 10 });
    expect(vi.getTimerCount()).toBe(1);
    const failed = failure(short);
    await vi.advanceTimersByTimeAsync(10);
    expect(await failed).toMatchObject({ code: "call-timeout" });
    const all = Promise.allSettled(calls);
    await vi.advanceTimersByTimeAsync(2000);
    expect((await all).map(({ status }) => status)).toEqual(calls.map(() => "rejected"));
    expect(vi.getTimerCount()).toBe(0);
  });

  it("survives a progress listener that throws and invalid progress", async () => {
    const { requests } = setup();
    const onProgress = () => {
      throw new Error("listener");
    };
    const call = requests.request("echo", {}, { ...limits, onProgress });
    expect(requests.accepts(progress("p1"))).toBe(true);
    expect(requests.accepts(progress("p1", { progress: "half" }))).toBe(true);
    requests.accepts(answer("p1"));
    await expect(call).resolves.toEqual({ result: { ok: true } });
  });
});

describe("M26 cancellation", () => {
  it("ends the call, notifies the server once and leaves no listener behind", async () => {
    const { requests, cancelled } = setup();
    const controller = new AbortController();
    const call = requests.request("echo", {}, { ...limits, signal: controller.signal });
    const answered = requests.request("echo", {}, { ...limits, signal: controller.signal });
    requests.accepts(answer("p2"));
    await answered;
    controller.abort(new Error("stop"));
    await expect(call).rejects.toMatchObject({ code: "call-cancelled", cause: new Error("stop") });
    expect(cancelled).toEqual(["p1"]);
    expect(requests.accepts(answer("p1"))).toBe(true);
    expect(requests.counts.late).toBe(1);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  it("never sends a request that was cancelled before", async () => {
    const { requests, sent, cancelled } = setup();
    const call = requests.request("echo", {}, { ...limits, signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({ code: "call-cancelled" });
    expect([sent, cancelled]).toEqual([[], []]);
  });

  it("accepts a hundred calls on one signal without a warning", async () => {
    const { requests } = setup();
    const warned = vi.spyOn(process, "emitWarning");
    const { signal } = new AbortController();
    const calls = Array.from({ length: 100 }, () => requests.request("echo", {}, { ...limits, signal }));
    for (let n = 1; n <= 100; n++) requests.accepts(answer(`p${n}`));
    await Promise.all(calls);
    expect(warned).not.toHaveBeenCalled();
    expect(getEventListeners(signal, "abort")).toEqual([]);
    warned.mockRestore();
  });

  it("keeps its outcome if the server cannot be notified", async () => {
    const requests = new Requests({
      server: "files",
      send: () => undefined,
      cancel: () => {
        throw new Error("pipe");
      },
    });
    const controller = new AbortController();
    const call = requests.request("echo", {}, { ...limits, signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "call-cancelled" });
  });
});
