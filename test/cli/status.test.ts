import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Interrupted } from "../../src/cli/terminal/signals.ts";
import { displayWidth } from "../../src/cli/terminal/text-width.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { fakeStdio, readFakeLog, startFakeHttp } from "../fixtures/fake/index.ts";
import { brokenServers } from "./broken-servers.ts";
import { commandLine } from "../command-line.ts";

const user = "home/.config/plugboard/config.json";

async function goodServers() {
  const http = await startFakeHttp({ versions: "modern" });
  onTestFinished(() => http.close());
  return {
    old: fakeStdio({ versions: ["2025-06-18"], serverInfo: { name: "old one", version: "1.2.3" } }),
    web: { url: http.url },
  };
}

function pidsIn(log: string): number[] {
  return existsSync(log)
    ? readFakeLog(log).flatMap((line) => (line.event === "start" ? [line.pid] : []))
    : [];
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("M23 status", () => {
  it("connects to servers of both eras and describes them", async () => {
    const box = createSandbox({ [user]: { mcpServers: await goodServers() } });
    const run = await box.cli(["status"]);
    expect(run.out).toMatch(/old +connected +stdio +2025-06-18 +legacy +14 +\d+\.\d+ s +old one 1\.2\.3/);
    expect(run.out).toMatch(/web +connected +http +2026-07-28 +modern +14 +\d+\.\d+ s +fake 1\.0\.0/);
    expect(run.out).toContain("2 servers connected.");
    expect(run).toMatchObject({ code: 0, err: "" });
  });

  it("prints one JSON object", async () => {
    const box = createSandbox({ [user]: { mcpServers: await goodServers() } });
    const { json } = await box.cli(["status", "old", "--json"]);
    expect(json).toMatchObject({
      healthy: true,
      servers: [{ name: "old", state: "connected", transport: "stdio", era: "legacy", toolCount: 14 }],
    });
  });

  it("lists disabled, untrusted, invalid and incomplete servers with the reason, and starts none of them", async () => {
    const box = createSandbox();
    const log = box.path("log");
    const started = fakeStdio({ log });
    box.write(user, {
      mcpServers: {
        off: { ...started, enabled: false },
        lacking: { ...started, args: [...started.args, "${NOT_SET}"] },
        wrong: { ...started, comand: "x" },
      },
    });
    box.write("project/.mcp.json", { mcpServers: { theirs: started } });
    const run = await box.cli(["status"]);
    expect(run.out).toMatch(/off +off +stdio\n/);
    expect(run.out).toMatch(/theirs +untrusted .*not trusted yet[\s\S]*→ .*plugboard trust theirs/);
    expect(run.out).toMatch(/lacking +missing-value[\s\S]*NOT_SET/);
    expect(run.out).toMatch(/wrong +invalid[\s\S]*plugboard config validate/);
    expect(run.code).toBe(3);
    expect(existsSync(log)).toBe(false);
  });

  it("explains what to do if nothing is configured, and rejects unknown servers", async () => {
    const box = createSandbox();
    expect(await box.cli(["status"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("plugboard add") as string,
    });
    expect(await box.cli(["status", "nope"])).toMatchObject({ code: 4 });
  });

  it("names the cause and the remedy of ten failures, in status and in doctor", async () => {
    const box = createSandbox();
    const broken = await brokenServers(box);
    const good = await goodServers();
    const configs = Object.entries(broken).map(([name, { config }]) => [name, config]);
    box.write(user, { mcpServers: { ...Object.fromEntries(configs), ...good } });
    const status = await box.cli(["status"]);
    const doctor = await box.cli(["doctor", "--connect"]);
    for (const { out } of [status, doctor]) {
      for (const [name, { cause, remedy }] of Object.entries(broken)) {
        const [, block = ""] = new RegExp(`^✗ ${name}  (.*(?:\\n  .*)*)`, "m").exec(out) ?? [];
        expect(block).toMatch(cause);
        expect(block.replaceAll(/\n +/g, " ")).toMatch(remedy);
      }
    }
    expect(status.out).toMatch(/old +connected/);
    expect(status.out).toContain("  │ loading\n  │ no database at db.example\n");
    expect(status.out).toContain("12 servers: 2 connected, ");
    expect(doctor.out).toMatch(
      /✓ old {2}connected over stdio: old one 1\.2\.3, protocol 2025-06-18 \(legacy era\)/,
    );
    expect(doctor.out).toMatch(/It is configured in the user scope \(.*config\.json:\d+\)/);
    expect(doctor.out).toContain("10 problems found.");
    for (const [name, { exitCode }] of Object.entries(broken)) {
      if (name === "hanging") continue;
      expect((await box.cli(["status", name, "--json"])).code, name).toBe(exitCode);
    }
  });

  it("escapes what a server says", async () => {
    const evil = "\u001b[2Jgone\u202e";
    const box = createSandbox({
      [user]: {
        mcpServers: {
          named: fakeStdio({ serverInfo: { name: evil, version: evil } }),
          dying: fakeStdio({ start: [{ raw: `${evil}\n${evil}\n`, to: "stderr" }, { exit: 1 }] }),
          banner: fakeStdio({ start: [{ raw: `${evil}\n` }] }),
        },
      },
    });
    for (const args of [["status"], ["doctor", "--connect"]]) {
      const { out } = await box.cli(args);
      expect(out).not.toMatch(/[\u001b\u202e]/);
      expect(out).toContain("\\u{1b}[2Jgone");
    }
  });

  it("reports banners on standard output in doctor", async () => {
    const box = createSandbox({
      [user]: { mcpServers: { it: fakeStdio({ start: [{ raw: "Welcome!\n" }] }) } },
    });
    const run = await box.cli(["doctor", "it", "--connect"]);
    expect(run.out).toMatch(
      /! it {2}printed 1 line that is not a message to standard output, first: Welcome!\n {2}→ .*standard error/,
    );
    expect(run.code).toBe(0);
  });

  it("shows a server with a connection per call like any other", async () => {
    const box = createSandbox({ [user]: { mcpServers: { it: { ...fakeStdio(), isolation: "call" } } } });
    expect((await box.cli(["status"])).out).toMatch(/it +connected .* 14 /);
  });

  it("counts a tool that is nested too deeply, which keeps nothing else from working", async () => {
    const program = resolve("test/fixtures/programs/deep.mjs");
    const tools = ["plain", "bad"].map((name) => ({
      name,
      inputSchema: { type: "object", ...(name === "bad" && { default: "$deep" }) },
    }));
    const args = [program, JSON.stringify({ "tools/list": [{ result: { tools } }] })];
    const box = createSandbox({ [user]: { mcpServers: { it: { command: process.execPath, args } } } });
    const run = await box.cli(["status"]);
    expect(run.out).toMatch(/it +connected .* 2 /);
    expect(run.code).toBe(0);
    expect((await box.cli(["tools", "it"])).out).toContain("plain");
  });

  it("shows a server whose tools cannot be listed as degraded", async () => {
    const refusal = {
      when: { method: "tools/list" },
      do: [{ error: { code: -32_000, message: "no tools today" } }],
    };
    const box = createSandbox({ [user]: { mcpServers: { it: fakeStdio({ on: [refusal] }) } } });
    const run = await box.cli(["status"]);
    expect(run.out).toMatch(/it +degraded/);
    expect(run.out).toContain("no tools today");
    expect(run.code).toBe(5);
  });
});

describe("M23 status on a screen", () => {
  it("redraws within the screen and restores the cursor", async () => {
    const broken = { missing: { command: "no-such-program-with-a-very-long-name-that-does-not-fit" } };
    const box = createSandbox({ [user]: { mcpServers: { ...(await goodServers()), ...broken } } });
    const { out } = await box.cli(["status"], { screen: { columns: 40, rows: 10 } });
    expect(out).toMatch(/old +connecting/);
    expect(out.indexOf("\u001b[?25l")).toBeGreaterThanOrEqual(0);
    expect(out.lastIndexOf("\u001b[?25h")).toBeGreaterThan(out.lastIndexOf("\u001b[?25l"));
    // eslint-disable-next-line no-control-regex
    const plain = out.replaceAll(/\u001b\[[?\d]*[A-Za-z]/g, "").replaceAll("\r", "");
    expect(plain.split("\n").filter((line) => displayWidth(line) >= 40)).toEqual([]);
    expect(plain).toMatch(/3 servers: 2 connected, 1 \w+\.\n$/);
  });

  it("stops its servers when interrupted", async () => {
    const box = createSandbox();
    const log = box.path("log");
    box.write(user, { mcpServers: { slow: fakeStdio({ log, start: [{ silent: true }] }) } });
    const interrupt = new AbortController();
    const timer = setInterval(() => {
      if (pidsIn(log).length > 0) interrupt.abort(new Interrupted("SIGINT"));
    }, 20);
    onTestFinished(() => clearInterval(timer));
    const run = await box.cli(["status"], { signal: interrupt.signal, screen: { columns: 80, rows: 24 } });
    expect(run.code).toBe(130);
    expect(run.out).toMatch(/slow +connecting/);
    expect(run.out.endsWith("\u001b[?25h")).toBe(true);
    expect(pidsIn(log).filter(isAlive)).toEqual([]);
  });
});

/** Runs `status --watch` and returns its output; `until` waits for a part of it. */
function watchStatus(box: Sandbox, args: string[], screen?: { columns: number; rows: number }) {
  const interrupt = new AbortController();
  let out = "";
  let wake: () => void = () => undefined;
  const run = box.cli(["status", "--watch", ...args], {
    signal: interrupt.signal,
    onOut: (text) => {
      out = text;
      wake();
    },
    ...(screen && { screen }),
  });
  const until = async (pattern: RegExp) => {
    while (!pattern.test(out)) await new Promise<void>((resolve) => (wake = resolve));
  };
  const end = async () => {
    interrupt.abort(new Interrupted("SIGINT"));
    return run;
  };
  return { until, end };
}

describe("M09 status --watch", () => {
  it("follows the configuration: starts new servers, but not untrusted ones", async () => {
    const { old, web } = await goodServers();
    const box = createSandbox({ [user]: { mcpServers: { old } } });
    const log = box.path("log");
    const { until, end } = watchStatus(box, []);
    await until(/old {2}connected {2}2025-06-18 {2}14 tools/);
    box.write("project/.mcp.json", { mcpServers: { theirs: fakeStdio({ log }) } });
    await until(/theirs {2}untrusted/);
    box.write(user, { mcpServers: { web } });
    await until(/old {2}removed/);
    await until(/web {2}connected {2}2026-07-28 {2}14 tools/);
    expect((await end()).code).toBe(130);
    expect(existsSync(log)).toBe(false);
  });

  it("prints one JSON event per line", async () => {
    const { old } = await goodServers();
    const box = createSandbox({ [user]: { mcpServers: { old } } });
    const { until, end } = watchStatus(box, ["--json"]);
    await until(/"toolCount":14/);
    box.write(user, '{ "mcpServers": {');
    await until(/"problem":/);
    const { out } = await end();
    const events = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events[0]).toMatchObject({ type: "status", servers: [{ name: "old", state: "ready" }] });
    expect(events).toContainEqual(expect.objectContaining({ type: "connection-changed", to: "connected" }));
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "config-changed",
        problem: expect.stringMatching(/config\.json:1: /) as string,
      }),
    );
  });

  it("keeps the table on screen and says why a new configuration is not used", async () => {
    const { old } = await goodServers();
    const box = createSandbox({ [user]: { mcpServers: { old } } });
    const { until, end } = watchStatus(box, [], { columns: 80, rows: 24 });
    await until(/old +connected .*14/);
    box.write(user, '{ "mcpServers": {');
    await until(/The previous\s+(\S*\s*)configuration\s+(\S*\s*)stays\s+(\S*\s*)in\s+(\S*\s*)use/);
    expect((await end()).code).toBe(130);
  });
});

describe("status as a process", () => {
  async function start(box: Sandbox) {
    const child = spawn(process.execPath, [commandLine, "status", "--watch"], {
      cwd: box.project,
      env: box.env,
      stdio: "pipe",
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
    await new Promise<void>((resolve) => {
      let out = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        out += text;
        if (out.includes("14 tools")) resolve();
      });
    });
    return { child, ended };
  }

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("ends its servers and itself on %s", async (signal, code) => {
    const box = createSandbox();
    const log = box.path("log");
    box.write(user, { mcpServers: { it: fakeStdio({ log }) } });
    const { child, ended } = await start(box);
    child.kill(signal);
    expect(await ended).toBe(code);
    expect(pidsIn(log)).toHaveLength(1);
    await expect.poll(() => pidsIn(log).filter(isAlive)).toEqual([]);
  });

  it("exits at once after a second Ctrl-C and leaves no process behind", async () => {
    const box = createSandbox();
    const log = box.path("log");
    box.write(user, { mcpServers: { it: fakeStdio({ log, ignores: ["eof", "SIGTERM"] }) } });
    const { child, ended } = await start(box);
    child.kill("SIGINT");
    const again = setInterval(() => child.kill("SIGINT"), 50);
    onTestFinished(() => clearInterval(again));
    expect(await ended).toBe(130);
    await expect.poll(() => pidsIn(log).filter(isAlive), { timeout: 20_000 }).toEqual([]);
  });
});
