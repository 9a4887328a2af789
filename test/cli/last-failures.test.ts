import { existsSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { Interrupted } from "../../src/cli/terminal/signals.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import { fakeStdio, readFakeLog } from "../fixtures/fake/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { installBrowser } from "./fake-browser.ts";

const user = "home/.config/plugboard/config.json";
const tool = (name: string) => ({ name, description: `Does ${name}`, inputSchema: { type: "object" } });
const exits: Script = { start: [{ raw: "no luck today\n", to: "stderr" }, { exit: 3 }] };
const leftOut = "left out, failed ";

/** A server whose program can be replaced without a change of its entry. */
function replaceable(box: Sandbox, script: Script, extra: Record<string, unknown> = {}) {
  const log = box.path("log");
  const path = box.path("home/server.mjs");
  const put = (next: Script) => {
    const { command, args } = fakeStdio({ ...next, log });
    const words = JSON.stringify([command, args]);
    box.write(
      "home/server.mjs",
      `import { spawn } from "node:child_process";
const [command, args] = ${words};
spawn(command, args, { stdio: "inherit" }).on("exit", (code) => process.exit(code ?? 1));\n`,
    );
  };
  put(script);
  const starts = () =>
    existsSync(log) ? readFakeLog(log).filter(({ event }) => event === "start").length : 0;
  return { entry: { command: process.execPath, args: [path], ...extra }, put, starts };
}

/** Lets what failed have failed earlier. */
async function age(box: Sandbox, ms: number) {
  const store = await openSqliteStore({ path: `${box.folders.state}/state.sqlite` }, () => undefined);
  for (const { key, value } of await store.list("failure/")) {
    const failure = value as { at: number };
    await store.set(key, { ...failure, at: failure.at - ms });
  }
  await store.close();
}

describe("M23 list shows how servers failed the last time", () => {
  it("with the age, without starting anything, until they connect again", async () => {
    const box = createSandbox();
    const { entry, put, starts } = replaceable(box, exits);
    box.write(user, { mcpServers: { broken: entry, fine: fakeStdio() } });
    expect((await box.cli(["list"])).out).not.toContain("failed");
    await box.cli(["status"]);
    await age(box, 5 * 60_000);
    const before = starts();
    const { out } = await box.cli(["list"]);
    expect(out).toMatch(/\nbroken: failed 5 minutes ago\. "broken" exited with code 3\..*no luck today\n/);
    expect(out).toContain("Run `plugboard status` to try them again.");
    expect(out).not.toContain("fine: ");
    const { json } = await box.cli(["list", "--json"]);
    const [broken, fine] = json["servers"] as { lastFailure?: unknown }[];
    expect(broken).toMatchObject({
      state: "ready",
      lastFailure: { code: "server-exited", message: expect.stringContaining("no luck") as string },
    });
    expect(fine).not.toHaveProperty("lastFailure");
    expect(starts()).toBe(before);
    put({});
    await box.cli(["status"]);
    expect((await box.cli(["list"])).out).not.toContain("failed");
  });

  it("forgets it when the entry changes, and starts nothing for that", async () => {
    const box = createSandbox();
    const { entry } = replaceable(box, exits);
    box.write(user, { mcpServers: { broken: entry } });
    await box.cli(["status"]);
    expect((await box.cli(["list"])).out).toContain("broken: failed ");
    box.write(user, { mcpServers: { broken: { ...entry, env: { API_KEY: "another" } } } });
    expect((await box.cli(["list"])).out).not.toContain("failed");
  });

  it("creates no state where there is none", async () => {
    const box = createSandbox({ [user]: { mcpServers: { it: fakeStdio() } } });
    await box.cli(["list"]);
    expect(existsSync(box.folders.state)).toBe(false);
  });

  it("keeps no secret, bounds what it keeps, and escapes what a server said", async () => {
    const secret = "tok-4f9a1c77e2";
    const box = createSandbox();
    const said = `\u001b[2Jbad ${secret} \u202e${"x".repeat(5_000)}\n`;
    const broken = fakeStdio({ start: [{ raw: said, to: "stderr" }, { exit: 1 }] });
    box.env["API_KEY"] = secret;
    box.write(user, { mcpServers: { broken: { ...broken, env: { ...broken.env, API_KEY: "${API_KEY}" } } } });
    await box.cli(["status"]);
    const { out } = await box.cli(["list"]);
    expect(out).toContain("broken: failed ");
    expect(out).not.toMatch(/[\u001b\u202e]/);
    const store = await openSqliteStore({ path: `${box.folders.state}/state.sqlite` }, () => undefined);
    const kept = JSON.stringify(await store.list("failure/"));
    await store.close();
    expect(kept).toContain("server-exited");
    expect(kept).not.toContain(secret);
    expect(kept.length).toBeLessThan(4_000);
  });

  it("fits the screen", async () => {
    const said = `${"no luck ".repeat(60)}\n`;
    const broken = fakeStdio({ start: [{ raw: said, to: "stderr" }, { exit: 1 }] });
    const box = createSandbox({ [user]: { mcpServers: { broken } } });
    await box.cli(["status"]);
    for (const columns of [40, 60, 80]) {
      const { out } = await box.cli(["list"], { screen: { columns, rows: 24 } });
      expect(out).toContain("broken: failed ");
      for (const line of out.split("\n")) expect(line.length, line).toBeLessThanOrEqual(columns);
    }
  });

  it("does not count a start that somebody interrupted", async () => {
    const box = createSandbox();
    const log = box.path("log");
    box.write(user, { mcpServers: { slow: fakeStdio({ start: [{ silent: true }], log }) } });
    const stop = new AbortController();
    const run = await box.cli(["status"], {
      screen: { columns: 80, rows: 24 },
      signal: stop.signal,
      onOut: (out) => out.includes("connecting") && stop.abort(new Interrupted("SIGINT")),
    });
    expect(run.code).toBe(130);
    expect((await box.cli(["list"])).out).not.toContain("failed");
  });
});

describe("M22 lists do not wait for what failed a short while ago", () => {
  const good = fakeStdio({ tools: [tool("read")] });

  it.each([
    ["tools", ["tools"], 5],
    ["search", ["search", "read"], 0],
    ["prompts", ["prompts"], 5],
  ])("%s leaves it out, with the reason, and does not start it", async (_name, words, code) => {
    const box = createSandbox();
    const { entry, starts } = replaceable(box, exits);
    box.write(user, { mcpServers: { broken: entry, good } });
    await box.cli(["status"]);
    const before = starts();
    const run = await box.cli(words);
    expect(starts()).toBe(before);
    expect(run.code).toBe(code);
    expect(run.err).toContain(`✗ broken  ${leftOut}`);
    expect(run.err).toMatch(/(?:ago|now): "broken" exited with code 3\. It printed: no luck today/);
    expect(run.err).toContain("Servers that failed in the last 10 minutes are left out");
    const narrow = await box.cli(words, { screen: { columns: 60, rows: 30 } });
    expect(narrow.err).toMatch(/^✗ broken {2}left out, .*…$/m);
    const { json } = await box.cli([...words, "--json"]);
    expect(json["failures"]).toMatchObject([{ about: "broken", code: "server-exited" }]);
    expect(starts()).toBe(before);
  });

  it("asks it again when it is named, with --refresh, by a call, and after ten minutes", async () => {
    const box = createSandbox();
    const { entry, starts } = replaceable(box, exits);
    box.write(user, { mcpServers: { broken: entry, good } });
    await box.cli(["tools"]);
    const tried = async (words: string[]) => {
      const before = starts();
      const run = await box.cli(words);
      expect(run.err).not.toContain("left out");
      return starts() > before;
    };
    expect(await tried(["tools", "broken"])).toBe(true);
    expect(await tried(["tools", "--refresh"])).toBe(true);
    expect(await tried(["call", "broken.read"])).toBe(true);
    await age(box, 10 * 60_000);
    expect(await tried(["tools"])).toBe(true);
  });

  it("looks for a tool without it, unless its name says where it is", async () => {
    const box = createSandbox();
    const { entry, starts } = replaceable(box, exits);
    box.write(user, { mcpServers: { broken: entry, good } });
    await box.cli(["status"]);
    const before = starts();
    expect((await box.cli(["tools", "read"])).out).toContain("mcp__good__read");
    const missing = await box.cli(["tools", "write"]);
    expect(missing.code).toBe(4);
    expect(missing.err).toContain("Not asked, because they failed a short while ago: broken.");
    expect(starts()).toBe(before);
    expect((await box.cli(["tools", "broken.write"])).err).toContain("no luck today");
    expect(starts()).toBeGreaterThan(before);
  });

  it("still waits for a server that was never tried, and lists one that works again", async () => {
    const box = createSandbox();
    const { entry, put } = replaceable(box, exits);
    box.write(user, { mcpServers: { broken: entry } });
    await box.cli(["tools"]);
    const late = fakeStdio({ tools: [tool("late")], start: [{ delayMs: 200 }] });
    box.write(user, { mcpServers: { broken: entry, late } });
    const run = await box.cli(["tools"]);
    expect(run.out).toContain("mcp__late__late");
    expect(run.err).toContain(`✗ broken  ${leftOut}`);
    put({ tools: [tool("mended")] });
    await box.cli(["call", "broken.mended"]);
    const again = await box.cli(["tools"]);
    expect(again.out).toContain("mcp__broken__mended");
    expect(again.err).not.toContain("left out");
  });

  it("asks at once again what could not even be started", async () => {
    const box = createSandbox({ [user]: { mcpServers: { absent: { command: "no-such-program" }, good } } });
    await box.cli(["tools"]);
    expect((await box.cli(["list"])).out).toContain("absent: failed ");
    const program = box.write("home/bin/no-such-program", "#!/bin/sh\necho mended >&2; exit 4\n");
    const { chmodSync } = await import("node:fs");
    chmodSync(program, 0o755);
    box.env["PATH"] = `${box.path("home/bin")}:${box.env["PATH"]}`;
    expect((await box.cli(["tools"])).err).toContain("mended");
  });

  it("leaves a connected server out of the list that it did not return, and of no other", async () => {
    const refusal = {
      when: { method: "prompts/list" },
      do: [{ error: { code: -32_000, message: "not now" } }],
    };
    const box = createSandbox();
    const { entry, starts } = replaceable(box, { tools: [tool("read")], on: [refusal] });
    box.write(user, { mcpServers: { half: entry } });
    await box.cli(["prompts"]);
    const before = starts();
    expect((await box.cli(["prompts"])).err).toContain(`✗ half  ${leftOut}`);
    expect(starts()).toBe(before);
    expect((await box.cli(["tools"])).out).toContain("mcp__half__read");
  });

  it("tries a server again whose secret was set", async () => {
    const box = createSandbox();
    const { entry, starts } = replaceable(box, exits, { env: { KEY: "${secret:KEY}" } });
    box.env["KEY"] = "wrong";
    box.env["PLUGBOARD_VAULT_PASSPHRASE"] = "a passphrase for tests";
    box.write(user, { mcpServers: { broken: entry } });
    await box.cli(["tools"]);
    expect((await box.cli(["tools"])).err).toContain(leftOut);
    const before = starts();
    expect(await box.cli(["secret", "set", "KEY", "-"], { input: "right" })).toMatchObject({ code: 0 });
    expect((await box.cli(["list"])).out).not.toContain("failed");
    expect((await box.cli(["tools"])).err).not.toContain("left out");
    expect(starts()).toBeGreaterThan(before);
  });

  it("contacts a server that needs a login only after the login", async () => {
    const auth = await startAuthServer({ autoConsent: true });
    const server = await startProtectedMcp(auth, {}, {});
    onTestFinished(async () => {
      await server.close();
      await auth.close();
    });
    const box = createSandbox({ [user]: { mcpServers: { issues: { url: server.url } } } });
    installBrowser(box);
    box.env["PATH"] = box.path("home/bin");
    await box.cli(["tools"]);
    await server.close();
    const run = await box.cli(["tools"]);
    expect(run.code).toBe(6);
    expect(run.err).toContain(`✗ issues  ${leftOut}`);
    expect(run.err).toContain("→ Run `plugboard login issues`.");
  });

  it("lists the tools of a server right after the login to it", async () => {
    const auth = await startAuthServer({ autoConsent: true });
    const server = await startProtectedMcp(auth, {}, {});
    onTestFinished(async () => {
      await server.close();
      await auth.close();
    });
    const box = createSandbox({ [user]: { mcpServers: { issues: { url: server.url } } } });
    installBrowser(box);
    box.env["PATH"] = box.path("home/bin");
    await box.cli(["tools"]);
    expect(await box.cli(["login", "issues"], { forms: [true] })).toMatchObject({ code: 0 });
    const run = await box.cli(["tools"]);
    expect(run).toMatchObject({ code: 0, out: expect.stringContaining("mcp__issues__add") as string });
  });
});
