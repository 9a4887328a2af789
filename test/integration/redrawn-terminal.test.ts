import { describe, expect, it, vi } from "vitest";
import { joinArgv } from "../../src/lib/argv.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
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

  it("shows what is up as it comes, on a screen that is too small for all, and then everything in order", async () => {
    const box = createSandbox();
    const { command, args } = fakeStdio();
    const go = box.path("go");
    const wait = `while [ ! -e '${go}' ]; do sleep 0.1; done; exec ${joinArgv([command, ...args])}`;
    const named = (name: string, many: number, entry: object) =>
      Array.from({ length: many }, (_, at) => [`${name}${at}`, entry] as const);
    const servers = [
      ...named("slow", 3, { command: "sh", args: ["-c", wait] }),
      ...named("dead", 10, { command: "false" }),
      ...named("good", 1, fakeStdio()),
    ];
    box.write(user, { mcpServers: Object.fromEntries(servers) });
    const screen = onScreen(box, ["status"], { rows: 10 });
    await vi.waitFor(() => {
      const shown = screen.capture();
      expect(shown).toMatch(/^good0 +connected .*(?:\n.*)*\nslow0 +connecting /m);
      expect(shown).toContain("14 servers: 1 connected, 3 connecting, 10 failed.");
    });
    box.write("go", "");
    screen.end();
    const [, table = ""] = screen.capture().split(/^NAME .*\n/m);
    const order = [...table.matchAll(/^(\w+) +(?:connected|failed) /gm)].map(([, name]) => name);
    expect(order).toEqual(servers.map(([name]) => name));
    expect(table).toContain("14 servers: 4 connected, 10 failed.");
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
