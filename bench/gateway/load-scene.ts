import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fakeStdio, startFakeHttp } from "../../test/fixtures/fake/index.ts";
import type { Answer, Era, Fields, Sent, TestClient } from "../../test/gateway/clients/client.ts";
import { HttpWire } from "../../test/gateway/clients/http-wire.ts";
import { openClient } from "../../test/gateway/clients/open-client.ts";
import type { Sample } from "../samples.ts";
import type { Ask } from "./programs/load-gateway.ts";

const token = "load-token-0123456789abcdef";
/** Nothing may take longer, whatever happens to its server. */
const patienceMs = 60_000;
const users = 8;
const names = ["pipe-legacy", "pipe-modern", "web-legacy", "web-modern"] as const;

/** Both programs and the watchdog. */
const running = 3;

export interface LoadScene extends AsyncDisposable {
  /** Everything at once for so long; then nothing is under way any more. */
  run(ms: number): Promise<void>;
  /** What the gateway holds while all servers run and nobody uses them. */
  sample(at: string): Promise<Sample>;
  /** Ends the gateway; what is left of it. */
  close(): Promise<Sample>;
  /** What was done how often; `failed: …` are answers that said so, as they have to while a server is down. */
  readonly counts: Map<string, number>;
  /** What should never happen. */
  readonly problems: string[];
}

/** A gateway in its own process before four servers that are killed at random, and people of both eras who use it. */
export async function openLoad(): Promise<LoadScene> {
  const web = {
    "web-legacy": await startFakeHttp({ versions: "legacy" }),
    "web-modern": await startFakeHttp({ versions: "modern" }),
  };
  const entries = {
    "pipe-legacy": { ...fakeStdio({ versions: "legacy" }), callTimeoutMs: 20_000 },
    "pipe-modern": { ...fakeStdio({ versions: "modern" }), callTimeoutMs: 20_000 },
    "web-legacy": { url: web["web-legacy"].url, callTimeoutMs: 20_000 },
    "web-modern": { url: web["web-modern"].url, callTimeoutMs: 20_000 },
  };
  const program = fork(join(import.meta.dirname, "programs", "load-gateway.ts"), [
    token,
    JSON.stringify(entries),
  ]);
  const [{ url }] = (await once(program, "message")) as [{ url: string }];
  const asked = new Map<number, (result: unknown) => void>();
  program.on("message", ({ id, result }: { id: number; result: unknown }) => asked.get(id)?.(result));
  let asks = 0;
  const counts = new Map<string, number>();
  const problems: string[] = [];

  async function ask<T>(what: { kill: string } | { sample: string } | { close: true }): Promise<T> {
    const id = ++asks;
    const result = new Promise<unknown>((resolve) => asked.set(id, resolve));
    program.send({ id, ...what } satisfies Ask);
    return (await result.finally(() => asked.delete(id))) as T;
  }

  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);

  function connect(era: Era): Promise<TestClient> {
    const wire = new HttpWire({ url, headers: { authorization: `Bearer ${token}` } });
    const answer = () => ({ action: "accept", content: { name: "Ada" } });
    return openClient(era, wire, { capabilities: { elicitation: { form: {} } }, answer });
  }

  /** Waits for the answer of a request and looks at it. */
  async function answered(what: string, sent: Sent, isRight: (result: Fields) => boolean): Promise<void> {
    const answer = await inTime(what, sent.answer);
    if (!answer) return;
    const { result, error, status, text } = answer;
    if (error) count(`failed: ${what} ${error.code} ${error.message.slice(0, 100)}`);
    else if (!result) problems.push(`${what} got no answer but ${status} ${text.slice(0, 200)}`);
    else if (result["isError"] === true) count(`failed: ${what}`);
    else if (!isRight(result)) problems.push(`${what} got the wrong answer: ${text.slice(0, 300)}`);
    else count(what);
  }

  async function inTime(what: string, answer: Promise<Answer>): Promise<Answer | undefined> {
    const late = new AbortController();
    const timer = sleep(patienceMs, undefined, { signal: late.signal }).catch(() => undefined);
    try {
      const first = await Promise.race([answer, timer]);
      if (!first) problems.push(`${what} was not answered`);
      return first ?? undefined;
    } catch (error) {
      problems.push(`${what} was cut off: ${String(error)}`);
      return undefined;
    } finally {
      late.abort();
    }
  }

  const server = () => names[Math.floor(Math.random() * names.length)] as string;
  const deeds: ((client: TestClient) => Promise<void>)[] = [
    async (client) => {
      const [a, b] = [Math.floor(Math.random() * 1e6), Math.floor(Math.random() * 1e6)];
      const sum = ({ structuredContent }: Fields) => (structuredContent as Fields)["sum"] === a + b;
      await answered("call", client.call(`${server()}__add`, { a, b }), sum);
    },
    (client) => answered("list", client.request("tools/list"), ({ tools }) => Array.isArray(tools)),
    async (client) => {
      const listed = await client.request("resources/list").answer;
      const [first] = (listed.result?.["resources"] ?? []) as Fields[];
      if (!first) return;
      const read = client.request("resources/read", { uri: first["uri"] });
      await answered("read", read, ({ contents }) => Array.isArray(contents));
    },
    (client) =>
      answered("question", client.call(`${server()}__elicit`), (result) =>
        JSON.stringify(result).includes("Ada"),
      ),
    async (client) => {
      const sent = client.call(`${server()}__sleep`, { ms: 10_000 });
      await sleep(Math.random() * 200);
      sent.cancel();
      // A legacy client gets no answer, a modern one has left.
      await Promise.race([sent.answer.catch(() => undefined), sleep(patienceMs, undefined, { ref: false })]);
      count("cancellation");
    },
  ];

  /** The first ones are done more often. */
  async function anyDeed(client: TestClient): Promise<void> {
    await deeds[Math.floor(Math.random() ** 1.5 * deeds.length)]?.(client);
  }

  /** Comes, uses the gateway for a while, and goes: with a word, or without. */
  async function visit(end: number): Promise<void> {
    const era = Math.random() < 0.5 ? "legacy" : "modern";
    const client = await connect(era);
    count(`${era} client`);
    if (Math.random() < 0.3) {
      await client.listen({ tools: true });
      count("subscription");
    }
    for (let left = 1 + Math.floor(Math.random() * 12); left > 0 && performance.now() < end; left--)
      await Promise.all(Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => anyDeed(client)));
    // A refusal that belongs to no request, such as that of a session which is over, has no id.
    const answers = client.seen.flatMap(({ kind, id }) =>
      kind === "answer" && id !== null && id !== undefined ? [id] : [],
    );
    if (new Set(answers).size !== answers.length) problems.push("a request was answered twice");
    if (Math.random() < 0.5) await client.close();
    else client.disconnect();
  }

  async function useIt(end: number): Promise<void> {
    while (performance.now() < end)
      await visit(end).catch((error: unknown) => problems.push(`a visit failed: ${String(error)}`));
  }

  async function killAtRandom(end: number): Promise<void> {
    while (performance.now() < end) {
      await sleep(700 + Math.random() * 1_600);
      const name = server();
      const remote = web[name as keyof typeof web] as (typeof web)["web-legacy"] | undefined;
      if (remote) await remote.restart();
      else await ask({ kill: name });
      count(`killed ${name}`);
      for (const { received } of Object.values(web)) received.length = 0;
    }
  }

  /** Brings every server back, so that samples compare equal states. */
  async function settle(): Promise<void> {
    const client = await connect("modern");
    for (const name of names) {
      for (let attempt = 0; attempt < 60; attempt++) {
        const { result } = await client.call(`${name}__add`, { a: 1, b: 1 }).answer;
        if (result && result["isError"] !== true) break;
        await sleep(500);
      }
    }
    await client.close();
    // Sessions that were left expire.
    await sleep(4_000);
  }

  return {
    counts,
    problems,
    run: async (ms) => {
      const end = performance.now() + ms;
      await Promise.all([killAtRandom(end), ...Array.from({ length: users }, () => useIt(end))]);
    },
    sample: async (at) => {
      await settle();
      let taken = await ask<Sample>({ sample: at });
      for (let attempt = 0; attempt < 2 && taken.children < running; attempt++) {
        await settle();
        taken = await ask<Sample>({ sample: at });
      }
      return taken;
    },
    close: () => ask({ close: true }),
    async [Symbol.asyncDispose]() {
      if (program.connected) program.disconnect();
      if (program.exitCode === null) await once(program, "exit");
      for (const fake of Object.values(web)) await fake.close();
    },
  };
}
