import { describe, expect, it } from "vitest";
import { StdioTransport } from "../../src/servers/transports/stdio/transport.ts";
import { isAlive, nodeProgram, processesWith, programPath, stdioFixture, until } from "./stdio-fixture.ts";
import { deaf, openRpc, result } from "./rpc-fixture.ts";

const stdio = stdioFixture();
const quick = { eofMs: 100, termMs: 100 };

function inShell(name: string) {
  // Like npx: a shell that runs the server as a child, without exec.
  const args = ["-c", '"$0" "$1"; true', process.execPath, programPath(name)];
  return { server: `sh ${name}`, command: "sh", args };
}

describe("M25 a closed server leaves no process", () => {
  it.each([
    ["a good server", nodeProgram("good.mjs")],
    ["a stubborn server", nodeProgram("stubborn.mjs")],
    ["a daemonizing server", nodeProgram("daemonizing.mjs")],
    ["a daemonizing server that ends politely itself", nodeProgram("daemonizing.mjs", "--polite")],
    ["a good server behind a launcher", inShell("good.mjs")],
    ["a stubborn server behind a launcher", inShell("stubborn.mjs")],
    ["a daemonizing server behind a launcher", inShell("daemonizing.mjs")],
  ])("%s", async (_, program) => {
    const processes = stdio.tree({ graces: quick });
    const { transport, request } = await stdio.open(program, { processes });
    await result(request("ping"));
    expect(processesWith(processes.owner).length).toBeGreaterThan(0);
    await transport.close();
    expect(processesWith(processes.owner)).toEqual([]);
    expect(processes.size).toBe(0);
  });

  it.each([
    ["alone", 1],
    ["with many others at the same time", 8],
  ])("a server that daemonizes while it is being closed, %s", async (_, count) => {
    const processes = stdio.tree({ graces: quick });
    const script = `trap '' TERM; read -r line; echo '{"jsonrpc":"2.0","id":"p1","result":{}}'; read -r line; (setsid sleep 1000 >/dev/null 2>&1 &)`;
    const program = { server: "late", command: "sh", args: ["-c", script] };
    const transports = await Promise.all(
      Array.from({ length: count }, () => stdio.open(program, { processes })),
    );
    await Promise.all(transports.map(({ request }) => result(request("ping"))));
    await Promise.all(transports.map(({ transport }) => transport.close()));
    expect(processesWith(processes.owner)).toEqual([]);
  });

  it("a daemonizing server ends alone, whether it was started before or after the others", async () => {
    const processes = stdio.tree({ graces: quick });
    const names = ["daemonizing.mjs", "good.mjs", "daemonizing.mjs"];
    const transports = [];
    for (const name of names) {
      const { transport, request } = await stdio.open(nodeProgram(name), { processes });
      await result(request("ping"));
      transports.push(transport);
    }
    const left = () => [1, 2, 3].map((n) => processesWith(`${processes.owner}.${n}\0`).length);
    expect(left()).toEqual([2, 1, 2]);
    await transports[1]?.close();
    expect(left()).toEqual([2, 0, 2]);
    await transports[2]?.close();
    expect(left()).toEqual([2, 0, 0]);
    await transports[0]?.close();
    expect(left()).toEqual([0, 0, 0]);
  });

  it("lets a well-behaved server exit by itself, without a signal", async () => {
    const { transport, request } = await stdio.open(nodeProgram("good.mjs"));
    await result(request("ping"));
    await transport.close();
    expect(transport.exit).toEqual({ code: 0, signal: null });
  });

  it("closes servers in parallel, and the watchdog last", async () => {
    const processes = stdio.tree({ graces: { eofMs: 1000, termMs: 1000 } });
    const names = [
      "stubborn.mjs",
      "good.mjs",
      "daemonizing.mjs",
      "stubborn.mjs",
      "stubborn.mjs",
      "stubborn.mjs",
    ];
    const transports = await Promise.all(names.map((name) => stdio.open(nodeProgram(name), { processes })));
    await Promise.all(transports.map(({ request }) => result(request("ping"))));
    const watchdog = processes.watchdogPid ?? 0;
    expect(isAlive(watchdog)).toBe(true);
    await processes.close();
    expect(processesWith(processes.owner)).toEqual([]);
    expect(processesWith(processes.owner, "cmdline")).toEqual([]);
    expect(isAlive(watchdog)).toBe(false);
    expect(transports.map(({ transport }) => transport.lost?.code)).toEqual(names.map(() => "server-exited"));
  });

  it("cleans up after a start that is aborted half-way", async () => {
    const processes = stdio.tree({ graces: quick });
    const transport = new StdioTransport({ processes, program: nodeProgram("stubborn.mjs") });
    const starting = transport.start(deaf).catch((error: unknown) => error);
    await transport.close();
    expect(await starting).toMatchObject({ code: "connection-lost" });
    expect(processesWith(processes.owner)).toEqual([]);
  });

  it("starts nothing once the tree is closing", async () => {
    const processes = stdio.tree();
    const early = stdio.open(nodeProgram("good.mjs"), { processes }).catch((error: unknown) => error);
    await processes.close();
    await early;
    await expect(stdio.open(nodeProgram("good.mjs"), { processes })).rejects.toMatchObject({
      code: "spawn-failed",
    });
    expect(processesWith(processes.owner)).toEqual([]);
  });

  it("ends the processes in a crashed server's group, even if they hold its output", async () => {
    const processes = stdio.tree({ graces: quick });
    const { transport, request } = await stdio.open(nodeProgram("good.mjs"), { processes });
    const call = request("abandon", { code: 3 });
    await expect(call).rejects.toMatchObject({ code: "server-exited", data: { exitCode: 3 } });
    const left = Number(/left (\d+)/.exec(transport.stderr.tail())?.[1]);
    expect(left).toBeGreaterThan(1);
    await until(() => !isAlive(left), "the grandchild is gone");
  });
});

describe("M44 the calls of a lost server fail immediately, with the cause", () => {
  it.each([
    ["exit code", "exit", { code: 7 }, { exitCode: 7, signal: null }, /exited with code 7/],
    ["exit code 0", "exit", { code: 0 }, { exitCode: 0, signal: null }, /exited with code 0/],
    ["signal", "die", { signal: "SIGKILL" }, { exitCode: null, signal: "SIGKILL" }, /killed by SIGKILL/],
  ])("%s, with the last line of stderr", async (_, method, params, data, message) => {
    const redact = (text: string) => text.replaceAll("hunter2", "***");
    const { transport, request, closed } = await stdio.open(nodeProgram("good.mjs"), { redact });
    await request("stderr", { text: "warming up\nfatal: no database hunter2\n" });
    const waiting = request("never").catch((error: unknown) => error);
    const failing = request(method, params).catch((error: unknown) => error);
    await closed;
    for (const error of [await waiting, await failing]) {
      expect(error).toMatchObject({
        code: "server-exited",
        data: { ...data, stderr: expect.stringContaining("warming up") },
      });
      expect((error as Error).message).toMatch(message);
      expect((error as Error).message).toContain("fatal: no database ***");
    }
    await expect(request("ping")).rejects.toMatchObject({
      code: "server-exited",
    });
    const notice = { jsonrpc: "2.0", method: "x", params: {} } as const;
    expect(() => transport.send(notice, JSON.stringify(notice))).toThrow(
      expect.objectContaining({ code: "server-exited", executed: "no" }) as Error,
    );
  });

  it("a program that exits immediately without output", async () => {
    const { request } = await stdio.open({ server: "s", command: "sh", args: ["-c", "exit 4"] });
    const call = request("ping");
    await expect(call).rejects.toMatchObject({ code: "server-exited", data: { exitCode: 4, stderr: "" } });
  });

  it("a program that exits during the handshake", async () => {
    const program = { server: "s", command: "sh", args: ["-c", "read line; echo no >&2; exit 3"] };
    const transport = new StdioTransport({ processes: stdio.tree(), program });
    await expect(openRpc(transport, { era: "legacy" })).rejects.toMatchObject({
      code: "server-exited",
      data: { exitCode: 3, stderr: "no\n" },
    });
  });

  it("half a message, then the end of output", async () => {
    const args = ["-c", `printf '{"jsonrpc":"2.0","id":"p1","result":{'; exit 1`];
    const { transport, request } = await stdio.open({ server: "s", command: "sh", args });
    await expect(request("ping")).rejects.toMatchObject({
      code: "server-exited",
    });
    expect(transport.skipped.count).toBe(1);
  });

  it("an answer written just before the exit still counts", async () => {
    const args = ["-c", `read line; printf '{"jsonrpc":"2.0","id":"p1","result":{"n":1}}'; exit 1`];
    const { request } = await stdio.open({ server: "s", command: "sh", args });
    expect(await result(request("ping"))).toEqual({ n: 1 });
  });

  it.each([
    ["output", "exec 1>&-", /closed its output/],
    ["input", "exec 0<&-", /closed its input/],
  ])("a server that closes its %s but keeps running is ended", async (_, close, message) => {
    const processes = stdio.tree({ graces: quick });
    const script = `trap '' TERM; read line; echo '{"jsonrpc":"2.0","id":"p1","result":{}}'; ${close}; sleep 1000`;
    const { transport, request, closed } = await stdio.open(
      { server: "s", command: "sh", args: ["-c", script] },
      { processes },
    );
    await request("ping");
    // It may still be closing; eventually sending a message fails because the pipe is broken.
    const outcomes: unknown[] = [];
    while (transport.lost === undefined) {
      outcomes.push(request("ping").catch((error: unknown) => error));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await closed;
    const lost = { code: "connection-lost", message: expect.stringMatching(message) };
    for (const outcome of outcomes) expect(await outcome).toMatchObject(lost);
    await transport.close();
    expect(processesWith(processes.owner)).toEqual([]);
  });

  it("requests to a server that does not read are rejected, and nothing hangs", async () => {
    const processes = stdio.tree({ graces: quick });
    const { transport, request } = await stdio.open(nodeProgram("stubborn.mjs"), {
      processes,
      maxQueuedBytes: 1_000_000,
    });
    await request("stopReading");
    const calls = Array.from({ length: 40 }, async (_, n) => {
      for (let turn = 0; turn < n; turn++) await new Promise((resolve) => setImmediate(resolve));
      await request("echo", { text: "x".repeat(100_000) });
    });
    const refused = await Promise.any(
      calls.map((call) =>
        call.then(
          () => {
            throw new Error("answered");
          },
          (error: unknown) => error,
        ),
      ),
    );
    expect(refused).toMatchObject({ code: "not-responding" });
    await transport.close();
    const outcomes = await Promise.allSettled(calls);
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(["rejected"]));
  });

  it("a request that is not valid JSON is the caller's error and does not affect others", async () => {
    const { request } = await stdio.open(nodeProgram("good.mjs"));
    const call = request("echo", { n: 1n });
    await expect(call).rejects.toMatchObject({ code: "usage-invalid" });
    expect(await result(request("ping"))).toEqual({});
  });
});

describe("M26 calls over stdio", () => {
  it("reports progress, and a cancelled or timed-out call reaches the server", async () => {
    const { request } = await stdio.open(nodeProgram("good.mjs"));
    const steps: number[] = [];
    const onProgress = ({ progress }: { progress: number }) => steps.push(progress);
    await request("progress", { steps: 3 }, { onProgress });
    expect(steps).toEqual([1, 2, 3]);
    const controller = new AbortController();
    const cancelled = request("never", {}, { signal: controller.signal });
    controller.abort();
    await expect(cancelled).rejects.toMatchObject({ code: "call-cancelled" });
    const late = request("never", {}, { timeoutMs: 20, maxTimeoutMs: 20 });
    await expect(late).rejects.toMatchObject({ code: "call-timeout" });
    expect(await result(request("cancelled"))).toEqual({
      cancelled: ["p2", "p3"],
    });
  });

  it("completes a thousand concurrent calls", async () => {
    const { request } = await stdio.open(nodeProgram("good.mjs"));
    const calls = Array.from({ length: 1000 }, (_, n) => result(request("echo", { n })));
    expect((await Promise.all(calls)).map(({ n }) => n)).toEqual(calls.map((_, n) => n));
  });

  it("a suspended server times out, and answers again when it resumes", async () => {
    const { transport, rpc, request } = await stdio.open(nodeProgram("good.mjs"));
    await request("ping");
    process.kill(transport.pid ?? 0, "SIGSTOP");
    const late = request("ping", {}, { timeoutMs: 50, maxTimeoutMs: 50 });
    await expect(late).rejects.toMatchObject({ code: "call-timeout" });
    process.kill(transport.pid ?? 0, "SIGCONT");
    expect(await result(request("echo", { n: 1 }))).toMatchObject({ n: 1 });
    expect(rpc.requests.counts.late).toBe(1);
  });
});
