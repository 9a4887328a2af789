import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHub, isPlugboardError } from "../../src/index.ts";
import type { Store } from "../../src/host.ts";
import type { Approval, ApproveQuestion, ConfigLiteral, HubOptions } from "../../src/index.ts";
import { argumentLines } from "../../src/cli/views/argument-lines.ts";
import { parseExact } from "../../src/lib/exact-json.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { createSandbox } from "../sandbox.ts";
import type { FakeHttp } from "../fixtures/fake/index.ts";
import { openFake, openLogged } from "../servers/hub-fixture.ts";

const always: Approval = { decision: "allow", remember: "always" };
const session: Approval = { decision: "allow", remember: "session" };
const key = randomBytes(32);
const add = { a: 1, b: 2 };

async function stored(path = join(createSandbox().root, "state.sqlite")): Promise<Store> {
  const store = await openSqliteStore({ path }, () => undefined);
  onTestFinished(() => store.close());
  return store;
}

/** A hub whose calls are asked about. `answers` are given in turn, then calls are denied. */
async function asking(entry: object, answers: Approval[], options: HubOptions) {
  const asked: ApproveQuestion[] = [];
  const approve = async (question: ApproveQuestion) => {
    asked.push(question);
    return answers.shift() ?? { decision: "deny" as const };
  };
  const config = { servers: { it: entry }, approval: "prompt" } as unknown as ConfigLiteral;
  const hub = await createHub(config, { interact: { approve }, approvalsKey: async () => key, ...options });
  onTestFinished(() => hub.close());
  const call = () =>
    hub.callTool("it.add", add).then(
      () => "made",
      (error: unknown) => (isPlugboardError(error) ? error.code : String(error)),
    );
  return { hub, asked, call };
}

const calls = (fake: FakeHttp) => fake.received.filter(({ body }) => body.includes('"tools/call"')).length;

describe("M60 an answer about a call that leads elsewhere now", () => {
  it("does not count for another URL, though the configuration is the same", async () => {
    await using staging = await openFake();
    await using production = await openFake();
    const store = await stored();
    const entry = { url: "${DB_URL}" };
    const before = await asking(entry, [always], { store, env: { DB_URL: staging.url } });
    expect(await before.call()).toBe("made");
    expect(await before.call()).toBe("made");
    expect(before.asked).toHaveLength(1);
    await before.hub.close();
    const after = await asking(entry, [], { store, env: { DB_URL: production.url } });
    expect(await after.call()).toBe("approval-denied");
    expect(after.asked[0]?.forgotten).toMatch(/but what the server runs or contacts has changed since$/);
    expect(calls(production)).toBe(0);
    const again = await asking(entry, [], { store, env: { DB_URL: staging.url } });
    expect(await again.call()).toBe("made");
  });

  it.each([
    ["a header", { headers: { Authorization: "Bearer ${TOKEN}" } }],
    ["a header from a variable", { headersFromEnv: { "X-Tenant": "TOKEN" } }],
    ["the bearer token", { bearerTokenEnv: "TOKEN" }],
    ["a secret", { headers: { "X-Api-Key": "${secret:TOKEN}" } }],
  ])("does not count for another value of %s", async (_, fields) => {
    await using server = await openFake();
    const store = await stored();
    const entry = { url: server.url, ...fields };
    const before = await asking(entry, [always], { store, env: { TOKEN: "one-of-ann" } });
    expect(await before.call()).toBe("made");
    await before.hub.close();
    const after = await asking(entry, [], { store, env: { TOKEN: "one-of-bob" } });
    expect(await after.call()).toBe("approval-denied");
  });

  it.each([
    ["an argument", (args: string[]) => ({ args: [...args, "${DB:-}"] })],
    ["a variable", () => ({ env: { DB: "${DB}" } })],
    ["a variable that is passed on", () => ({ inheritEnv: ["D*"] })],
    ["the folder", () => ({ cwd: "/${DB}" })],
  ])("does not count for another value of %s of a program", async (_, change) => {
    await using server = await openLogged();
    const store = await stored();
    const written = server.entry as { args: string[] };
    const entry = { ...written, ...change(written.args) };
    const before = await asking(entry, [always], { store, env: { ...process.env, DB: "tmp" } });
    expect(await before.call()).toBe("made");
    await before.hub.close();
    const after = await asking(entry, [], { store, env: { ...process.env, DB: "var" } });
    expect(await after.call()).toBe("approval-denied");
    const again = await asking(entry, [], { store, env: { ...process.env, DB: "tmp" } });
    expect(await again.call()).toBe("made");
  });

  it("does not count for another program that PATH finds under the same name", async () => {
    await using server = await openLogged();
    const store = await stored();
    const box = createSandbox();
    const { command, args } = server.entry as { command: string; args: string[] };
    for (const folder of ["one", "two"]) {
      box.write(`${folder}/the-server`, `#!/bin/sh\nexec ${command} "$@"\n`);
      chmodSync(box.path(`${folder}/the-server`), 0o755);
    }
    symlinkSync(box.path("one"), box.path("link"));
    const entry = { ...server.entry, command: "the-server", args };
    const at = (folder: string) => ({ ...process.env, PATH: `${box.path(folder)}:${process.env["PATH"]}` });
    const before = await asking(entry, [always], { store, env: at("one") });
    expect(await before.call()).toBe("made");
    await before.hub.close();
    const after = await asking(entry, [], { store, env: at("two") });
    expect(await after.call()).toBe("approval-denied");
    const again = await asking(entry, [], { store, env: at("link") });
    expect(await again.call()).toBe("made");
  });

  it("does not count once the same hub connects with other values", async () => {
    await using staging = await openFake();
    await using production = await openFake();
    const env: Record<string, string> = { DB_URL: staging.url };
    const { hub, asked, call } = await asking({ url: "${DB_URL}" }, [session], { env });
    expect(await call()).toBe("made");
    env["DB_URL"] = production.url;
    expect(await call()).toBe("made");
    await hub.disconnect("it");
    expect(await call()).toBe("approval-denied");
    expect(asked).toHaveLength(2);
    expect(calls(staging)).toBe(2);
    expect(calls(production)).toBe(0);
  });

  it("is asked for again when the values change while a person thinks", async () => {
    await using staging = await openFake();
    await using production = await openFake();
    const env: Record<string, string> = { DB_URL: staging.url };
    const asked: string[] = [];
    const approve = async ({ id }: ApproveQuestion): Promise<Approval> => {
      asked.push(id);
      if (asked.length > 1) return { decision: "deny" };
      env["DB_URL"] = production.url;
      await hub.disconnect("it");
      return always;
    };
    const hub = await createHub(
      { servers: { it: { url: "${DB_URL}" } }, approval: "prompt" },
      { interact: { approve }, env },
    );
    onTestFinished(() => hub.close());
    await expect(hub.callTool("it.add", add)).rejects.toMatchObject({ code: "approval-denied" });
    expect(asked).toHaveLength(2);
    expect(calls(production)).toBe(0);
  });

  it("is asked for again where every call has a connection of its own", async () => {
    await using staging = await openFake();
    await using production = await openFake();
    const env: Record<string, string> = { DB_URL: staging.url };
    const entry = { url: "${DB_URL}", isolation: "call" };
    const { asked, call } = await asking(entry, [session], { env });
    expect(await call()).toBe("made");
    expect(await call()).toBe("made");
    env["DB_URL"] = production.url;
    expect(await call()).toBe("approval-denied");
    expect(asked).toHaveLength(2);
    expect(calls(production)).toBe(0);
  });

  it("does not count for other headers of a call", async () => {
    await using server = await openFake();
    const { hub, asked } = await asking({ url: server.url }, [session], {});
    const made = (authorization: string, traceparent: string) =>
      hub.forwardCall("it.add", { arguments: add }, { headers: { authorization, traceparent } });
    await made("Bearer ann", "1");
    await made("Bearer ann", "2");
    await expect(made("Bearer bob", "1")).rejects.toMatchObject({ code: "approval-denied" });
    expect(asked).toHaveLength(2);
  });
});

describe("M60 what is written down of an answer", () => {
  it("does not let secrets be tried out on it", async () => {
    await using server = await openFake();
    const path = join(createSandbox().root, "state.sqlite");
    const entry = { url: server.url, headers: { "X-Api-Key": "literal-secret", "X-Pin": "${PIN}" } };
    const records = async (own: Uint8Array, pin: string) => {
      const store = await stored(path);
      const { call, hub } = await asking(entry, [always], {
        store,
        env: { PIN: pin },
        approvalsKey: async () => own,
      });
      expect(await call()).toBe("made");
      await hub.close();
      const [record] = await store.list("approval/");
      return record?.value as Record<string, string>;
    };
    const one = await records(randomBytes(32), "1234");
    const two = await records(randomBytes(32), "1234");
    expect(two["entry"]).not.toBe(one["entry"]);
    expect(two["target"]).not.toBe(one["target"]);
    expect(readFileSync(path, "latin1")).not.toMatch(/literal-secret/);
  });

  it("holds for this hub only if there is no key and the server has secrets", async () => {
    await using server = await openFake();
    const store = await stored();
    const entry = { url: server.url, headers: { "X-Api-Key": "${TOKEN}" } };
    const options = { store, env: { TOKEN: "one" }, approvalsKey: undefined };
    const before = await asking(entry, [always], options);
    expect(await before.call()).toBe("made");
    expect(await before.call()).toBe("made");
    expect(before.asked[0]?.remember).not.toHaveProperty("always");
    expect(await store.list("approval/")).toEqual([]);
  });
});

it("M60 numbers that JavaScript cannot hold are sent as they were shown", async () => {
  await using server = await openFake();
  const shown: string[] = [];
  const approve = async ({ arguments: args }: ApproveQuestion): Promise<Approval> => {
    shown.push(...argumentLines(args, { width: 80 }).lines);
    return { decision: "allow" };
  };
  const hub = await createHub(
    { servers: { it: { url: server.url } }, approval: "prompt" },
    { interact: { approve } },
  );
  onTestFinished(() => hub.close());
  const args = parseExact('{"a":12345678901234567890,"b":1}') as Record<string, unknown>;
  await hub.callTool("it.add", args);
  expect(shown).toContain("  a  12345678901234567890");
  expect(server.received.some(({ body }) => body.includes('"a":12345678901234567890,'))).toBe(true);
});
