import { describe, expect, test } from "vitest";
import { fakeHttp, failure, open, until } from "./http-fixture.ts";

describe.each(["legacy", "modern"] as const)("M20 Streamable HTTP, %s era", (era) => {
  test("calls through the lane reach the server and come back, 50 at once", async () => {
    const fake = await fakeHttp({ versions: era });
    const { call, errors } = await open(fake.url, era);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => call("add", { a: n, b: 1 })));
    expect(answers.map((answer) => "result" in answer && answer.result["structuredContent"])).toEqual(
      Array.from({ length: 50 }, (_, n) => ({ sum: n + 1 })),
    );
    expect(errors).toEqual([]);
  });

  test("answers in an event stream are read, progress included", async () => {
    const progress: number[] = [];
    const fake = await fakeHttp({
      versions: era,
      responses: "sse",
      on: [{ when: { tool: "echo" }, do: [{ progress: 3 }, { default: true }] }],
    });
    const { call } = await open(fake.url, era);
    const answer = await call("echo", { x: "ü€😀" }, { onProgress: (p) => progress.push(p.progress) });
    expect(answer).toMatchObject({ result: { structuredContent: { x: "ü€😀" } } });
    expect(progress).toHaveLength(3);
  });

  test("the server's own errors arrive untouched", async () => {
    const error = { code: -32050, message: "no", data: { why: [1, 2] } };
    const fake = await fakeHttp({ versions: era, on: [{ when: { tool: "echo" }, do: [{ error }] }] });
    const { call } = await open(fake.url, era);
    expect(await call("echo")).toEqual({ error });
  });

  test("lists and handshake go through the SDK on the same sockets", async () => {
    const fake = await fakeHttp({ versions: era });
    const { client } = await open(fake.url, era);
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain("add");
  });

  test("closing ends every socket and timer, also with calls in flight", async () => {
    const fake = await fakeHttp({ versions: era, on: [{ when: { tool: "echo" }, do: [{ silent: true }] }] });
    const { transport, call } = await open(fake.url, era);
    const pending = [call("echo"), call("echo")];
    const outcomes = Promise.all(pending.map(failure));
    await until(
      () => fake.received.filter(({ message }) => message?.["method"] === "tools/call").length === 2,
    );
    let closed = 0;
    transport.onclose = () => closed++;
    await Promise.all([transport.close(), transport.close()]);
    expect((await outcomes).map((error) => error.code)).toEqual(["connection-lost", "connection-lost"]);
    await until(() => fake.connections === 0);
    expect(closed).toBe(1);
    expect((await failure(call("echo"))).code).toBe("connection-lost");
  });
});
