import { afterEach, describe, expect, test } from "vitest";
import type { Script } from "../fixtures/fake/index.ts";
import { until } from "./bridge/cell.ts";
import { openScene, type Scene } from "./bridge/scene.ts";
import type { Fields } from "./clients/client.ts";
import type { UpstreamKind } from "./upstreams.ts";

/** Asks when it starts, and when it is told that the roots changed, outside of any request, as many servers do. */
const asking: Partial<Script> = {
  on: ["notifications/initialized", "notifications/roots/list_changed"].map((method) => ({
    when: { method },
    do: [{ request: { method: "roots/list" }, wait: false }],
  })),
};
const rootsOf = (name: string): Fields => ({ roots: [{ uri: `file:///home/${name}`, name }] });

describe.each<UpstreamKind>(["legacy-stdio", "legacy-sse", "legacy-memory"])(
  "M81 a %s server that asks for roots outside of a request",
  (kind) => {
    let scene: Scene;
    const answers = () =>
      scene
        .upstream(kind)
        .heard()
        .flatMap(({ message }) => (message.method === undefined ? [message] : []));
    const heardRoots = (name: string) => () =>
      answers().some(({ result }) => JSON.stringify(result) === JSON.stringify(rootsOf(name)));
    afterEach(() => scene.close());

    test.each(["legacy-http", "legacy-stdio"] as const)(
      "gets those of its only %s client, also when they change",
      async (clientKind) => {
        scene = await openScene([kind], { script: asking });
        const client = await scene.client(clientKind, { answer: () => rootsOf("ada") });
        await client.listen({});
        await client.result(client.call(`${kind}__echo`));
        await until("the server knows the roots", heardRoots("ada"));
        client.answer = () => rootsOf("lovelace");
        await client.notify("notifications/roots/list_changed");
        await until("the server knows the new roots", heardRoots("lovelace"));
        expect(client.questions().every(({ stream }) => stream === "standing" || stream === "pipe")).toBe(
          true,
        );
      },
    );

    test("hears those of each caller on a connection of that caller", async () => {
      scene = await openScene([kind], { script: asking });
      for (const caller of ["ada", "bob"]) {
        const client = await scene.client("legacy-http", { caller, answer: () => rootsOf(caller) });
        await client.listen({});
        await client.result(client.call(`${kind}__echo`));
        await until("the server knows the roots", heardRoots(caller));
        expect(client.questions().length).toBeGreaterThan(0);
      }
    });

    test("is refused where it cannot be told whose are meant, and where nobody has any", async () => {
      scene = await openScene([kind], { script: asking });
      const none = await scene.client("legacy-http", { capabilities: {} });
      const modern = await scene.client("modern-http");
      for (const client of [none, modern]) await client.result(client.call(`${kind}__echo`));
      const two = [await scene.client("legacy-http"), await scene.client("legacy-http")];
      await two[0]?.notify("notifications/roots/list_changed");
      await until("the server has been refused", () =>
        answers().some(({ error }) => JSON.stringify(error)?.includes("Several clients have roots")),
      );
      for (const answer of answers()) expect(answer).toMatchObject({ error: {} });
      for (const client of [none, modern]) expect(client.questions()).toEqual([]);
    });
  },
);
