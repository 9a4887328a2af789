import { chmodSync, existsSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { runProgram } from "../../src/host.ts";
import { judged } from "../../src/cli/client/health.ts";
import { createSandbox } from "../sandbox.ts";

describe("M10 what a client's own command says", () => {
  it.each([
    ["plugboard:\n  Scope: User\n  Status: ✔ Connected\n  Command: node serve\n", true, "connected"],
    ["plugboard:\n  Status: ✘ Failed to connect\n", true, "failed"],
    ["other: ✗ failed\nplugboard: node main.js serve --stdio - ✓ Connected\n", true, "connected"],
    ["✗ plugboard: node serve (stdio) - Disconnected\n✓ other: x - Connected\n", true, "failed"],
    ["●  ✓ plugboard connected\n│      node serve\n", true, "connected"],
    ["●  ✗ plugboard failed\n│      Connection closed\n", true, "failed"],
    ["plugboard: needs approval\n", true, "failed"],
    ["plugboard\n  enabled: true\n  transport: stdio\n", false, "listed"],
    ["No MCP servers configured.\n", true, "failed"],
    ["plugboard-old ✓ connected\n", true, "failed"],
    ["plugboard: something new\n", true, "unclear"],
    ["", true, "failed"],
  ] as const)("is understood: %j", (text, connects, state) => {
    expect(judged(text, "plugboard", 0, connects).state).toBe(state);
  });
});

describe("M10 running a client's command", () => {
  const all = { timeoutMs: 60_000, maxBytes: 1000 };

  it("ends it with all that it started when it takes too long", async () => {
    const box = createSandbox();
    const script = box.write("bin/hangs", "#!/bin/sh\nsleep 1000 &\necho $! > pid\necho begun\nwait\n");
    chmodSync(script, 0o755);
    const { env, project: cwd } = box;
    const end = await runProgram({ ...all, command: script, args: [], cwd, env, timeoutMs: 1500 });
    expect(end).toMatchObject({ code: null, isTimedOut: true });
    const pid = Number(box.read("project/pid"));
    await vi.waitFor(() => expect(existsSync(`/proc/${pid}/stat`)).toBe(false));
  });

  it("keeps only so much of what it prints, and tells how it ended", async () => {
    const { env, project: cwd } = createSandbox();
    const args = ["-c", "yes | head -c 100000; exit 3"];
    const end = await runProgram({ ...all, command: "sh", args, cwd, env });
    expect(end).toMatchObject({ code: 3, isTimedOut: false });
    expect(end?.text).toBe("y\n".repeat(500));
  });

  it("tells that there is no such program", async () => {
    const { env, project: cwd } = createSandbox();
    expect(await runProgram({ ...all, command: "no-such-client", args: [], cwd, env })).toBeUndefined();
  });
});
