import { createServer, get } from "node:http";
import { createHmac } from "node:crypto";
import type { AddressInfo } from "node:net";
import { describe, expect, it, vi } from "vitest";
import type { WaitingQuestion } from "../../src/index.ts";
import { approvalKey, call, openWaiting, sum, tasks, token, waitingQuestion } from "./waiting.ts";
import type { Fields } from "./clients/client.ts";

/** A gateway with one call that waits, and its client. */
async function openCall(options?: Parameters<typeof openWaiting>[0]) {
  const it = await openWaiting(options);
  const gateway = await it.start();
  const client = await gateway.connect("modern");
  const sent = client.once("tools/call", call);
  const question = await waitingQuestion(gateway.hub);
  return Object.assign(it, { gateway, client, sent, question });
}

const errorOf = async (response: Response | Promise<Response>) => {
  const { status } = await response;
  const { error } = (await (await response).json()) as {
    error: { code: string; message: string; hint?: string };
  };
  return { status, ...error };
};

describe("M61 /api/approvals", () => {
  it("lists what waits, and answers it", async () => {
    await using it = await openCall();
    const listed = (await (await it.gateway.api()).json()) as { approvals: WaitingQuestion[] };
    expect(listed.approvals).toEqual([it.question]);
    const { id, digest } = it.question;
    expect(await (await it.gateway.api(id)).json()).toMatchObject({ id, state: "waiting" });
    const response = await it.gateway.post(id, { decision: "allow", digest });
    expect([response.status, await response.json()]).toEqual([200, { id, state: "approved" }]);
    expect(await it.client.result(it.sent)).toMatchObject(sum);
  });

  it("denies", async () => {
    await using it = await openCall();
    const { id, digest } = it.question;
    await it.gateway.post(id, { decision: "deny", digest, reason: "not today" });
    expect(JSON.stringify(await it.client.result(it.sent))).toContain("not today");
    expect(it.sent).toBeDefined();
  });

  it("refuses a client with its own token and the reason, and others without a key", async () => {
    await using it = await openCall();
    const { id, digest } = it.question;
    const allow = { decision: "allow", digest };
    expect(await errorOf(it.gateway.post(id, allow, token))).toMatchObject({
      status: 403,
      code: "approval-denied",
      message: expect.stringContaining("Clients cannot approve calls"),
      hint: expect.stringContaining("approval key"),
    });
    expect(await errorOf(it.gateway.api("", {}, token))).toMatchObject({ status: 403 });
    expect(await errorOf(it.gateway.post(id, allow, "a-wrong-key-of-any-length"))).toMatchObject({
      status: 401,
    });
    const bare = await fetch(`http://127.0.0.1:${it.gateway.port}/api/approvals`);
    expect([bare.status, bare.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(await it.gateway.hub.approvals.waiting()).toHaveLength(1);
  });

  it("refuses everybody if clients need no token and bring no key", async () => {
    await using it = await openWaiting({ gateway: { auth: "none" } });
    const { port } = await it.start();
    expect((await fetch(`http://127.0.0.1:${port}/api/approvals`)).status).toBe(403);
  });

  it("refuses pages and foreign host names, whatever they know", async () => {
    await using it = await openCall();
    const page = await it.gateway.api("", { headers: { origin: "https://evil.example" } });
    expect(page.status).toBe(403);
    expect(page.headers.get("access-control-allow-origin")).toBeNull();
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    const headers = { host: "evil.example", authorization: `Bearer ${approvalKey}` };
    get({ port: it.gateway.port, path: "/api/approvals", headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    expect(await promise).toBe(403);
  });

  it("refuses an answer to nothing, twice, to other arguments, and what is no answer", async () => {
    await using it = await openCall();
    const { id, digest } = it.question;
    const { post } = it.gateway;
    const unknown = post("q_aaaaaaaaaaaaaaaaaaaa", { decision: "allow", digest });
    expect(await errorOf(unknown)).toMatchObject({ status: 410, code: "question-over" });
    expect(await errorOf(post("nonsense", {}))).toMatchObject({ status: 404 });
    const changed = post(id, { decision: "allow", digest: "0".repeat(64) });
    expect(await errorOf(changed)).toMatchObject({
      status: 400,
      code: "usage-invalid",
      hint: expect.any(String),
    });
    expect(await errorOf(post(id, { decision: "allow" }))).toMatchObject({
      status: 400,
      hint: expect.any(String),
    });
    expect(await errorOf(post(id, { decision: "perhaps", digest }))).toMatchObject({ status: 400 });
    expect(await errorOf(post(id, [1]))).toMatchObject({ status: 400 });
    const long = it.gateway.post(id, { decision: "allow", digest, reason: "x".repeat(20_000) });
    expect(await errorOf(long)).toMatchObject({ status: 413 });
    const text = { method: "POST", body: "{}", headers: { "content-type": "text/plain" } };
    expect(await errorOf(it.gateway.api(id, text))).toMatchObject({ status: 415 });
    expect(await errorOf(it.gateway.api(id, { method: "DELETE" }))).toMatchObject({ status: 405 });
    expect((await post(id, { decision: "deny", digest })).status).toBe(200);
    const replayed = await errorOf(post(id, { decision: "allow", digest }));
    expect(replayed).toMatchObject({ status: 410, code: "question-over" });
    expect(replayed.message).toContain("answered already");
  });

  it("is not there without a key", async () => {
    await using it = await openWaiting({ gateway: { approvalKey: undefined } });
    const { api } = await it.start();
    expect((await api()).status).toBe(404);
  });
});

interface Received {
  headers: Record<string, string | string[] | undefined>;
  body: string;
  at: number;
}

/** A receiver of questions, which answers as it is told. */
async function openReceiver(
  answer: (
    question: WaitingQuestion,
    count: number,
  ) => { status: number; body?: unknown; headers?: Record<string, string> },
) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      received.push({ headers: request.headers, body, at: performance.now() });
      const { question } = JSON.parse(body) as { question: WaitingQuestion };
      const reply = answer(question, received.length);
      response.writeHead(reply.status, reply.headers);
      response.end(reply.body === undefined ? "" : JSON.stringify(reply.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const secret = "a-secret-of-the-webhook";
const hooked = (url: string, more: Fields = {}) => ({
  approvals: { webhook: { url, secret: "${secret:HOOK}" } },
  hub: { env: { HOOK: secret, PATH: process.env["PATH"] ?? "", HOME: "/nonexistent" } },
  ...more,
});

describe("M61 the approval webhook", () => {
  it("is told what waits, signed, and may answer at once", async () => {
    await using hook = await openReceiver(({ id, digest }) => ({
      status: 200,
      body: { id, digest, decision: "allow" },
    }));
    await using it = await openWaiting(hooked(hook.url));
    const gateway = await it.start();
    const client = await gateway.connect("modern");
    expect(await client.result(client.once("tools/call", call))).toMatchObject(sum);
    const { headers, body } = hook.received[0] as Received;
    const timestamp = String(headers["plugboard-timestamp"]);
    const expected = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
    expect(headers["plugboard-signature"]).toBe(`v1=${expected}`);
    expect(JSON.parse(body)).toMatchObject({
      type: "approval-waiting",
      question: { tool: "add", arguments: call.arguments, caller: "token" },
    });
    expect(body).not.toContain(secret);
  });

  it("reads nothing invisible before it parses what it is told, and exactly the arguments after that", async () => {
    await using hook = await openReceiver(({ id, digest }) => ({
      status: 200,
      body: { id, digest, decision: "allow" },
    }));
    await using it = await openWaiting(hooked(hook.url));
    const gateway = await it.start();
    const client = await gateway.connect("modern");
    const text = "rm\u202e\u3164\u2028 -rf \u{e0041}";
    const echo = { ...call, name: call.name.replace("add", "echo"), arguments: { text } };
    await client.result(client.once("tools/call", echo));
    const { body = "" } = hook.received[0] ?? {};
    expect(body).toMatch(/^[\x20-\x7e]*$/);
    expect(JSON.parse(body)).toMatchObject({ question: { arguments: { text } } });
  });

  it("may answer later, with a credential that is good for this question only", async () => {
    await using hook = await openReceiver(() => ({ status: 202 }));
    await using it = await openCall(hooked(hook.url));
    await vi.waitFor(() => expect(hook.received).toHaveLength(1));
    const { answer } = JSON.parse(hook.received[0]?.body ?? "") as {
      answer: { url: string; credential: string };
    };
    const { gateway, question } = it;
    expect(answer.url).toBe(`http://127.0.0.1:${gateway.port}/api/approvals/${question.id}`);
    const allow = { decision: "allow", digest: question.digest };
    expect((await gateway.post("q_aaaaaaaaaaaaaaaaaaaa", allow, answer.credential)).status).toBe(401);
    expect((await gateway.api("", {}, answer.credential)).status).toBe(401);
    const headers = { authorization: `Bearer ${answer.credential}`, "content-type": "application/json" };
    const response = await fetch(answer.url, { method: "POST", headers, body: JSON.stringify(allow) });
    expect(response.status).toBe(200);
    expect(await it.client.result(it.sent)).toMatchObject(sum);
    const late = await fetch(answer.url, { method: "POST", headers, body: JSON.stringify(allow) });
    expect(await errorOf(late)).toMatchObject({ status: 410, code: "question-over" });
    expect(hook.received).toHaveLength(1);
  });

  it("is tried again after failures, redirects and wrong answers, while the question waits", async () => {
    await using other = await openReceiver(() => ({ status: 200 }));
    await using hook = await openReceiver(({ id, digest }, count) => {
      if (count === 1) return { status: 500 };
      if (count === 2) return { status: 307, headers: { location: other.url } };
      return { status: 200, body: { id, digest, decision: "allow" } };
    });
    await using it = await openCall(hooked(hook.url, {}));
    const problems: string[] = [];
    it.gateway.hub.on("server-log", ({ message }) => problems.push(message));
    expect(await it.client.result(it.sent)).toMatchObject(sum);
    expect(hook.received).toHaveLength(3);
    expect(other.received).toEqual([]);
    expect(problems.join()).toContain("which is not followed");
    expect(problems.join()).not.toContain(hook.url);
  });

  it("cannot answer without naming the question it was told", async () => {
    await using hook = await openReceiver((_question, count) => ({
      status: 200,
      body: count === 1 ? { decision: "allow" } : undefined,
    }));
    await using it = await openCall(hooked(hook.url));
    await vi.waitFor(() => expect(hook.received).toHaveLength(2), { timeout: 10_000 });
    expect(await it.gateway.hub.approvals.waiting()).toHaveLength(1);
    await it.gateway.hub.approvals.answer(it.question.id, { decision: "deny" });
    expect(await it.client.result(it.sent)).toMatchObject({ isError: true });
  });

  it("is told by the next process, if the one before could not", async () => {
    let isUp = false;
    await using hook = await openReceiver(({ id, digest }) =>
      isUp ? { status: 200, body: { id, digest, decision: "allow" } } : { status: 503 },
    );
    await using it = await openWaiting(hooked(hook.url));
    const first = await it.start();
    const before = await first.connect("modern", tasks);
    const { taskId } = await before.result(before.once("tools/call", call));
    await vi.waitFor(() => expect(hook.received.length).toBeGreaterThan(0));
    await first.stop();
    isUp = true;
    const second = await it.start();
    const client = await second.connect("modern", tasks);
    await client.result(client.once("tasks/get", { taskId }));
    await vi.waitFor(() => expect(it.sent()).toHaveLength(1), { timeout: 10_000 });
  });

  it("is told on start what still waits, before any client comes back", async () => {
    let isUp = false;
    await using hook = await openReceiver(({ id, digest }) =>
      isUp ? { status: 200, body: { id, digest, decision: "allow", remember: "always" } } : { status: 503 },
    );
    await using it = await openWaiting(hooked(hook.url));
    const first = await it.start();
    const before = await first.connect("modern", tasks);
    await before.result(before.once("tools/call", call));
    await vi.waitFor(() => expect(hook.received.length).toBeGreaterThan(0));
    await first.stop();
    isUp = true;
    const second = await it.start();
    await vi.waitFor(async () => expect(await second.hub.approvals.list()).toHaveLength(1), {
      timeout: 10_000,
    });
    const { answer } = JSON.parse(hook.received.at(-1)?.body ?? "") as { answer: { url: string } };
    expect(answer.url).toContain(`:${second.port}/api/approvals/`);
    expect(it.sent()).toEqual([]);
  });

  it("says which secret is missing, and the question waits", async () => {
    await using it = await openCall(
      hooked("https://hooks.example", { hub: { env: { PATH: process.env["PATH"] ?? "" } } }),
    );
    const problem = await new Promise<string>((resolve) => {
      it.gateway.hub.on("server-log", ({ message }) => resolve(message));
      it.client.once("tools/call", call);
    });
    expect(problem).toContain("approvals.webhook.secret needs ${secret:HOOK}, which is not set");
    expect((await it.gateway.hub.approvals.waiting()).length).toBeGreaterThan(0);
  });

  it("is not told over plain HTTP to another machine", async () => {
    await using it = await openCall(
      hooked("${secret:URL}", {
        hub: { env: { HOOK: secret, URL: "http://192.0.2.1/x", PATH: process.env["PATH"] ?? "" } },
      }),
    );
    const problem = await new Promise<string>((resolve) => {
      it.gateway.hub.on("server-log", ({ message }) => resolve(message));
      it.client.once("tools/call", call);
    });
    expect(problem).toContain("must be https");
    expect(problem).not.toContain("192.0.2.1");
  });
});
