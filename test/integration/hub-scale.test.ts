import { describe, expect, it } from "vitest";
import type { Script } from "../fixtures/fake/index.ts";
import {
  add,
  call,
  failure,
  openHub,
  openLogged,
  reached,
  report,
  type Servers,
  sum,
} from "../servers/hub-fixture.ts";
import { isAlive, until } from "../servers/stdio-fixture.ts";

const startupTimeoutMs = 45_000;
const kinds: [name: string, count: number, script: Script][] = [
  ["hangs", 10, { start: [{ raw: "still loading\n", to: "stderr" }, { silent: true }] }],
  ["crashes", 5, { start: [{ raw: "no database\n", to: "stderr" }, { exit: 3 }] }],
  ["good", 35, {}],
];

describe("M22 M23 fifty servers at once", () => {
  it("ten hang and five crash: the others are usable meanwhile, and each failure has its reason", async () => {
    await using logged = await openLogged();
    const {
      command,
      args = [],
      env = {},
    } = logged.entry as { command: string; args?: string[]; env?: Record<string, string> };
    const { log } = JSON.parse(args[1] ?? "{}") as Script;
    const servers: Servers = {};
    for (const [name, count, script] of kinds)
      for (let index = 0; index < count; index++)
        servers[`${name}-${index}`] = {
          command,
          args: [args[0] ?? "", JSON.stringify({ ...script, log })],
          env: { ...env, INDEX: String(index) },
          startupTimeoutMs: name === "hangs" ? startupTimeoutMs : 240_000,
        };
    const names = Object.keys(servers);
    const of = (kind: string) => names.filter((name) => name.startsWith(kind));
    const startedAt = performance.now();
    await using hub = await openHub(servers, { eager: true });

    const sums = await Promise.all(of("good").map((name) => add(hub, name)));
    expect(sums).toEqual(of("good").map(() => sum));
    for (const name of of("hangs")) expect(report(hub, name).state).toBe("connecting");
    await Promise.all(of("crashes").map((name) => reached(hub, name, "waiting", "failed")));
    for (const name of of("crashes")) {
      const { error, message } = report(hub, name);
      expect(error?.code).toBe("server-exited");
      expect(message).toMatch(/code 3.*no database/);
    }

    await Promise.all(of("hangs").map((name) => reached(hub, name, "waiting", "failed")));
    const elapsedMs = performance.now() - startedAt;
    for (const name of of("hangs")) {
      const { error, message } = report(hub, name);
      expect(error?.code).toBe("start-timeout");
      expect(message).toMatch(/45 s.*still loading/);
    }
    // One deadline and the waits for a turn, not ten deadlines.
    expect(elapsedMs).toBeLessThan(startupTimeoutMs * 2.5);
    expect(await Promise.all(of("good").map((name) => add(hub, name)))).toEqual(of("good").map(() => sum));
    await hub.close();
    expect(logged.pids().filter(isAlive)).toEqual([]);
  });
});

describe("M24 a server killed under load", () => {
  it("a thousand calls get one outcome each, none is repeated, and the next call works", async () => {
    await using logged = await openLogged();
    await using hub = await openHub({ it: logged.entry });
    await hub.connect("it");
    const [pid = 0] = logged.pids();
    const outcomes = new Map<number, string[]>();
    const note = (index: number, what: string) =>
      void outcomes.set(index, [...(outcomes.get(index) ?? []), what]);
    const calls = Array.from({ length: 1_000 }, (_, index) =>
      call(hub, "it", "sleep", { ms: index % 2 === 0 ? 0 : 120_000, index }).then(
        () => note(index, "answered"),
        (error: { code: string }) => note(index, error.code),
      ),
    );
    await until(() => outcomes.size > 100, "some are answered");
    process.kill(pid, "SIGKILL");
    await Promise.all(calls);
    expect(outcomes.size).toBe(1_000);
    const counts: Record<string, number> = {};
    for (const all of outcomes.values()) {
      expect(all).toHaveLength(1);
      counts[all[0] ?? ""] = (counts[all[0] ?? ""] ?? 0) + 1;
    }
    expect(Object.keys(counts).sort()).toEqual(["answered", "server-exited"]);
    expect(counts["server-exited"]).toBeGreaterThanOrEqual(500);

    expect(await add(hub, "it")).toBe(sum);
    expect(logged.starts()).toBe(2);
    const heard = logged.heard().flatMap(({ params }) => {
      const { index } = (params?.["arguments"] ?? {}) as { index?: number };
      return index === undefined ? [] : [index];
    });
    expect(new Set(heard).size).toBe(heard.length);
    expect(await call(hub, "it", "count")).toBe('{"total":1,"tools":{"add":1}}');
    expect(await failure(call(hub, "it", "crash"))).toMatchObject({ code: "server-exited" });
    expect(await add(hub, "it")).toBe(sum);
  });
});
