import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { fakeStdio, readFakeLog } from "../fixtures/fake/index.ts";
import type { Fields } from "../gateway/clients/client.ts";
import { HttpWire } from "../gateway/clients/http-wire.ts";
import { openClient } from "../gateway/clients/open-client.ts";
import { runNode } from "../run-command.ts";
import { createSandbox } from "../sandbox.ts";
import { commandLine } from "../command-line.ts";

const call = { name: "it__add", arguments: { a: 1, b: 2 } };
const forms = { elicitation: {} };
const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };

/** A user with a server whose calls wait for approval. Everything runs in processes of its own. */
function scene() {
  const box = createSandbox();
  const log = box.path("home/server.log");
  box.write("home/.config/plugboard/config.json", {
    mcpServers: { it: fakeStdio({ log }) },
    approval: "prompt",
    approvals: { queue: true },
  });
  const plugboard = (...args: string[]) =>
    runNode([commandLine, ...args], { cwd: box.project, env: box.env });
  const serve = async () => {
    const child = spawn(process.execPath, [commandLine, "serve", "--port", "0", "--json"], {
      cwd: box.project,
      env: box.env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const exited = once(child, "exit");
    const [line] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
    const { url, tokenFile } = JSON.parse(line) as { url: string; tokenFile: string };
    const headers = { authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` };
    return {
      async connect(capabilities: Fields = {}) {
        const client = await openClient("modern", new HttpWire({ url, headers }), { capabilities });
        onTestFinished(() => client.disconnect());
        await vi.waitFor(
          async () => {
            const { tools } = await client.result(client.once("tools/list"));
            expect(tools).not.toEqual([]);
          },
          { timeout: 60_000 },
        );
        return client;
      },
      /** No time to say goodbye. */
      async kill() {
        child.kill("SIGKILL");
        await exited;
      },
    };
  };
  const waiting = async () => {
    const { out } = await plugboard("approvals", "--json");
    return (JSON.parse(out) as { waiting: { id: string }[] }).waiting;
  };
  return {
    plugboard,
    serve,
    waiting,
    /** The id of the only question that waits. */
    question: () =>
      vi.waitFor(
        async () => {
          const [first] = await waiting();
          if (!first) throw new Error("nothing waits");
          return first.id;
        },
        { timeout: 60_000 },
      ),
    /** How many calls the server got. */
    sent: () =>
      readFakeLog(log).filter((line) => line.event === "received" && line.line.includes('"tools/call"'))
        .length,
  };
}

describe("M61 a parked gateway call, with every part in a process of its own", () => {
  it("is approved from another terminal", async () => {
    const it = scene();
    const gateway = await it.serve();
    const client = await gateway.connect();
    const sent = client.once("tools/call", call);
    const id = await it.question();
    expect(await it.plugboard("approvals", "answer", id, "allow")).toMatchObject({ code: 0 });
    expect(JSON.stringify(await client.result(sent))).toContain("sum");
    expect(it.sent()).toBe(1);
    await gateway.kill();
  });

  it("is gone with a gateway that was killed, if its client held nothing: a late answer says so", async () => {
    const it = scene();
    const gateway = await it.serve();
    const client = await gateway.connect();
    client.once("tools/call", call).answer.catch(() => undefined);
    const id = await it.question();
    await gateway.kill();
    expect(await it.waiting()).toEqual([]);
    const late = await it.plugboard("approvals", "answer", id, "allow");
    expect(late).toMatchObject({ code: 4, err: expect.stringContaining("is gone") });
    const again = await it.serve();
    await again.connect();
    expect(it.sent()).toBe(0);
    await again.kill();
  });

  it("goes on after a gateway was killed, if its client holds a state", async () => {
    const it = scene();
    const first = await it.serve();
    const before = await first.connect(forms);
    const { requestState } = await before.result(before.once("tools/call", call));
    const id = await it.question();
    await first.kill();
    expect(await it.plugboard("approvals", "answer", id, "allow")).toMatchObject({ code: 0 });
    const second = await it.serve();
    const client = await second.connect(forms);
    const back = { ...call, requestState, inputResponses: { approval: { action: "accept" } } };
    expect(JSON.stringify(await client.result(client.once("tools/call", back)))).toContain("sum");
    expect(JSON.stringify(await client.result(client.once("tools/call", back)))).toContain("used already");
    expect(it.sent()).toBe(1);
    await second.kill();
  });

  it("goes on after a gateway was killed, if its client holds a task", async () => {
    const it = scene();
    const first = await it.serve();
    const before = await first.connect(tasks);
    const { taskId } = await before.result(before.once("tools/call", call));
    await first.kill();
    const second = await it.serve();
    const client = await second.connect(tasks);
    const get = () => client.result(client.once("tasks/get", { taskId }));
    expect(await get()).toMatchObject({ status: "working" });
    expect(await it.plugboard("approvals", "answer", String(taskId), "allow")).toMatchObject({ code: 0 });
    await vi.waitFor(async () => expect(await get()).toMatchObject({ status: "completed" }), {
      timeout: 60_000,
    });
    expect(it.sent()).toBe(1);
    await second.kill();
  });
});
