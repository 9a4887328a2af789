import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allOf } from "./bridge/cell.ts";
import { openScene, type Scene } from "./bridge/scene.ts";
import type { Fields, TestClient } from "./clients/client.ts";
import type { UpstreamKind } from "./upstreams.ts";

const crowd = 200;
const callers = ["ada", "bob", "cleo", "dan"];
const parallel: UpstreamKind[] = ["legacy-http", "modern-http", "modern-stdio"];
const inTurn: UpstreamKind[] = ["legacy-stdio", "legacy-memory"];
const kinds = [...parallel, ...inTurn];

interface Member {
  name: string;
  index: number;
  client: TestClient;
}

/** Every client counts its requests from 1, uses the same progress tokens and the same parameters. */
describe(`M80 ${crowd} clients of both eras and of ${callers.length} callers at once`, () => {
  let scene: Scene;
  let members: Member[];
  beforeAll(async () => {
    const prompts = Array.from({ length: 600 }, (_, index) => ({ name: `prompt-${index}` }));
    scene = await openScene(kinds, { script: { prompts }, gateway: { limits: { connections: 2_000 } } });
    // From its first question on, a server on a pipe has a connection for each caller.
    const first = await scene.client("legacy-http", { answer: () => accept("nobody") });
    for (const kind of inTurn) await first.result(first.call(`${kind}__elicit`));
    members = await Promise.all(
      Array.from({ length: crowd }, async (_, index) => {
        const kind = index % 2 === 0 ? "legacy-http" : "modern-http";
        const client = await scene.client(kind, { caller: callers[index % callers.length] ?? "" });
        return { name: `client-${index}`, index, client };
      }),
    );
  }, 120_000);
  afterAll(() => scene.close());

  const everybody = (work: (member: Member) => Promise<void>): Promise<void[]> => {
    for (const { client } of members) client.seen.length = 0;
    return Promise.all(members.map(work));
  };

  test("each gets its own answers and progress", async () => {
    for (const kind of kinds)
      await everybody(async ({ client, name, index }) => {
        const steps = 1 + (index % 5);
        const echoed = client.result(client.call(`${kind}__echo`, { name, kind }));
        const progressToken = "same";
        const sent = client.call(`${kind}__progress`, { steps }, { progressToken });
        const { content } = await client.result(sent);
        expect(content).toEqual([{ type: "text", text: `${steps} steps` }]);
        expect((await echoed)["structuredContent"]).toEqual({ name, kind });
        const seen = client.notifications("notifications/progress");
        expect(
          seen.map(({ params, stream }) => [
            stream,
            params?.["progressToken"],
            params?.["progress"],
            params?.["total"],
          ]),
        ).toEqual(
          Array.from({ length: steps }, (_, step) => [String(sent.id), progressToken, step + 1, steps]),
        );
      });
  });

  test("each is asked what its own call asks, while everybody else has a question open", async () => {
    for (const kind of parallel) {
      let asked = 0;
      const all = Promise.withResolvers<void>();
      await everybody(async ({ client, name }) => {
        client.answer = async (_method, { message }) => {
          if (++asked === crowd) all.resolve();
          await all.promise;
          return accept(`${String(message)} from ${name}`);
        };
        const result = await client.result(client.call(`${kind}__elicit`, { message: name }));
        expect(answersOf(result)).toEqual([accept(`${name} from ${name}`)]);
        expect(client.questions()).toHaveLength(1);
      });
      expect(asked).toBe(crowd);
    }
  });

  test("each is asked what its own call asks, where calls of a caller take turns", async () => {
    for (const kind of inTurn)
      await everybody(async ({ client, name }) => {
        client.answer = (_method, { message }) => accept(`${String(message)} from ${name}`);
        const result = await client.result(client.call(`${kind}__elicit`, { message: name }));
        expect(answersOf(result)).toEqual([accept(`${name} from ${name}`)]);
        expect(client.questions()).toHaveLength(1);
      });
  });

  test("each cancels its own request", async () => {
    const kind = "modern-http";
    let asked = 0;
    const all = Promise.withResolvers<void>();
    await everybody(async ({ client, name, index }) => {
      // The same id for everybody.
      const gone = index % 4 < 2;
      client.answer = async () => {
        if (++asked === crowd) all.resolve();
        await all.promise;
        return accept(name);
      };
      const sent = client.call(`${kind}__elicit`, { message: name });
      await client.sees("its question", (seen) => seen.kind === "question");
      if (gone) return sent.cancel();
      expect(answersOf(await client.result(sent))).toEqual([accept(name)]);
    });
  });

  test("each walks through lists with its own cursors", async () => {
    const cursors = new Map<string, Set<string>>();
    await everybody(async ({ client, index }) => {
      const prompts = await allOf(client, "prompts/list", "prompts");
      expect(prompts).toHaveLength(kinds.length * 600);
      const given = client.seen.flatMap(({ text }) => /"nextCursor":"([^"]+)"/.exec(text)?.[1] ?? []);
      const mine = cursors.get(callers[index % callers.length] ?? "") ?? new Set();
      for (const cursor of given) mine.add(cursor);
      cursors.set(callers[index % callers.length] ?? "", mine);
    });
    const all = [...cursors.values()];
    expect(new Set(all.flatMap((one) => [...one])).size).toBe(all.reduce((sum, { size }) => sum + size, 0));
  });

  test("each hears of the resources that it subscribed to, once", async () => {
    const uriOf = (index: number) => `fake://modern-http/${index % 3 === 0 ? "readme" : "ask"}`;
    const updated = "notifications/resources/updated";
    const teller = await scene.client("modern-http");
    // A subscription that takes its time hears once more when it begins, so the servers are subscribed to before.
    await everybody(async ({ client }) => void (await client.result(client.request("resources/list"))));
    const early = await scene.client("modern-http", { caller: "eve" });
    await early.listen({ uris: [uriOf(0), uriOf(1)] });
    for (const which of [0, 1]) {
      const heard = early.sees("an update", ({ params }) => params?.["uri"] === uriOf(which));
      await teller.result(teller.call("modern-http__change", { what: uriOf(which) }));
      await heard;
    }
    await everybody(({ client, index }) => client.listen({ uris: [uriOf(index)] }));
    for (const which of [0, 1])
      await teller.result(teller.call("modern-http__change", { what: uriOf(which) }));
    await Promise.all(
      members.map(async ({ client, index }) => {
        await client.sees("its update", ({ method }) => method === updated);
        expect(client.notifications(updated).map(({ params }) => params?.["uri"])).toEqual([uriOf(index)]);
      }),
    );
  });
});

function accept(name: string): Fields {
  return { action: "accept", content: { name } };
}

function answersOf(result: Fields): unknown {
  return (result["structuredContent"] as Fields)["answers"];
}
