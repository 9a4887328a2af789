import { describe, expect, it, vi } from "vitest";
import { lacks } from "../machine.ts";
import { onScreen } from "../on-screen.ts";
import { createSandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";

describe.skipIf(lacks("tmux"))("M23 what is drawn over on a terminal", () => {
  it("prints the status once, also if it is taller than the screen", async () => {
    const names = Array.from({ length: 14 }, (_, at) => `server${at}`);
    const failing = { command: "false" };
    const mcpServers = Object.fromEntries(names.map((name) => [name, failing]));
    const screen = onScreen(createSandbox({ [user]: { mcpServers } }), ["status"], { rows: 10 });
    screen.end();
    expect(screen.capture().match(/^NAME /gm)).toHaveLength(1);
  });

  it("removes the spinner of a call that was interrupted, and says what it waits for", async () => {
    const hanging = `process.stdin.resume(); setInterval(() => {}, 1000);`;
    const silent = { command: process.execPath, args: ["-e", hanging] };
    const box = createSandbox({ [user]: { mcpServers: { silent } } });
    const screen = onScreen(box, ["call", "silent.echo"]);
    await vi.waitFor(() => expect(screen.capture()).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/), 10_000);
    screen.type("C-c");
    screen.end();
    expect(screen.capture()).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
    expect(screen.capture()).toContain("Stopping the servers.");
  });
});
