import { chmodSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createHub } from "../../src/index.ts";
import { StartGate } from "../../src/servers/start-gate.ts";
import { joinArgv } from "../../src/lib/argv.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";

const { signal } = new AbortController();
const never = new Promise<void>(() => undefined);
const nothing = () => undefined;

describe("M22 how many servers start at once", () => {
  it("one more begins when one of them is done, and is told that it waits", async () => {
    const gate = new StartGate(2, 1_000_000);
    const first = Promise.withResolvers<void>();
    const begun: string[] = [];
    const queued: string[] = [];
    const start = (name: string, until: Promise<void>) =>
      gate.run(
        async () => {
          begun.push(name);
          await until;
        },
        signal,
        () => queued.push(name),
      );
    const work = [start("a", first.promise), start("b", never), start("c", Promise.resolve())];
    await setImmediate();
    expect([begun, queued]).toEqual([["a", "b"], ["c"]]);
    first.resolve();
    await Promise.all([work[0], work[2]]);
    expect(begun).toEqual(["a", "b", "c"]);
  });

  it("what takes long makes room before it is done", async () => {
    const gate = new StartGate(1, 1);
    void gate.run(() => never, signal, nothing);
    await gate.run(async () => undefined, signal, nothing);
  });

  it("whoever gives up leaves the queue", async () => {
    const gate = new StartGate(1, 1_000_000);
    const first = Promise.withResolvers<void>();
    const work = gate.run(() => first.promise, signal, nothing);
    const stop = new AbortController();
    const second = gate.run(() => never, stop.signal, nothing);
    stop.abort(new Error("no longer wanted"));
    await expect(second).rejects.toThrow("no longer wanted");
    first.resolve();
    await work;
    await gate.run(async () => undefined, signal, nothing);
  });

  it.each([
    [3, 0],
    [2, 1],
  ])(
    "%i launchers that may download do not keep a program from starting, and %i waits",
    async (limit, wait) => {
      const box = createSandbox();
      const { command, args } = fakeStdio();
      const npx = box.write(
        "bin/npx",
        `#!/bin/sh\nwhile [ ! -e '${box.path("go")}' ]; do sleep 0.1; done\nexec ${joinArgv([command, ...args])}\n`,
      );
      chmodSync(npx, 0o755);
      const launchers = ["one", "two", "three"];
      const packages = Object.fromEntries(
        launchers.map((name) => [name, { command: "npx", args: ["-y", name] }]),
      );
      const env = { ...box.env, PATH: `${box.path("bin")}:/usr/bin:/bin` };
      await using hub = await createHub(
        { servers: { ...packages, plain: fakeStdio() }, startConcurrency: 1, installConcurrency: limit },
        { env, start: false },
      );
      const details: (string | undefined)[] = [];
      hub.on("connection-changed", ({ detail }) => details.push(detail));
      const installing = launchers.map((name) => hub.connect(name));
      await hub.connect("plain");
      box.write("go", "");
      await Promise.all(installing);
      expect(details.filter((detail) => detail === "installing")).toHaveLength(3);
      expect(details.filter((detail) => detail === "waiting for its turn")).toHaveLength(wait);
    },
  );
});
