import { describe, expect, it, onTestFinished } from "vitest";
import { startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import { readFakeLog } from "../fixtures/fake/stdio-command.ts";
import { lacks } from "../machine.ts";
import { onScreen } from "../on-screen.ts";
import { chatScene } from "./chat-scene.ts";
import type { Provider } from "./chat-scene.ts";
import { installBrowser } from "./fake-browser.ts";

const providers: Provider[] = ["openai", "anthropic"];
const form = {
  type: "object",
  properties: { name: { type: "string" }, size: { type: "string", enum: ["small", "large"] } },
  required: ["name"],
};

describe.skipIf(lacks("tmux"))("M66 a conversation on a terminal", () => {
  it.each(providers)("shows and asks everything that a person has to know, with %s", async (provider) => {
    const scene = await chatScene(
      [
        { text: ["I will ", "look."], calls: [{ tool: "progress", args: { steps: 100, everyMs: 100 } }] },
        { calls: [{ tool: "elicit", args: { message: "Who are you?", schema: form } }] },
        { text: "Hello Ada." },
        { text: "Greetings." },
        { text: "I read it." },
        { text: ["Two ", "lines."] },
        { status: 429, retryAfterSeconds: 9 },
        { calls: [{ tool: "crash" }] },
        { text: "It is gone." },
      ],
      { provider },
    );
    const { box, model } = scene;
    const file = "home/.config/plugboard/config.json";
    const config = JSON.parse(box.read(file)) as { mcpServers: Record<string, { args: string[] }> };
    const log = box.path("log");
    (config.mcpServers["it"] as { args: string[] }).args[1] = JSON.stringify({ log });
    box.write(file, { ...config, approval: { tools: { crash: "approve" } } });
    const screen = onScreen(box, ["chat"], { columns: 100, rows: 60 });
    const shows = async (text: string) =>
      await expect.poll(screen.capture, { timeout: 15_000 }).toContain(text);
    const isReady = async () =>
      await expect.poll(() => screen.capture().trimEnd(), { timeout: 15_000 }).toMatch(/\n>$/);
    const says = async (text: string) => {
      await isReady();
      screen.type(text, "Enter");
    };

    // Approval, long progress, and Ctrl-C, of which the server is told.
    await says("look");
    await shows("◆  Call it?");
    expect(screen.capture()).toContain("│    steps    100");
    expect(screen.capture()).toContain(" 1 → it.progress  steps=100 everyMs=100");
    screen.type("Up", "Up", "Enter");
    await expect.poll(screen.capture, { timeout: 15_000 }).toMatch(/it\.progress {2}\d+%/);
    screen.type("C-c");
    await shows("Cancelled. Press Ctrl-C again to leave.");
    const cancelled = () =>
      readFakeLog(log).filter((line) => "line" in line && line.line.includes("notifications/cancelled"));
    await expect.poll(cancelled).toHaveLength(1);

    // A form.
    await says("ask me");
    await shows("elicit of it");
    await shows("◆  Call it?");
    screen.type("Up", "Up", "Up", "Enter");
    await shows("◆  it asks: Who are you?");
    screen.type("Enter");
    await shows("◆  name");
    screen.type("Ada", "Enter");
    await shows("◆  size");
    screen.type("Enter");
    await shows("◆  Send this to it?");
    screen.type("Enter");
    await shows("Hello Ada.");
    const [form_] = [...(await model.request(2)).results.values()].slice(-1);
    expect(form_?.text).toContain('"name":"Ada"');

    // A prompt, a mention and a paste of several lines, with completion.
    screen.type("/mcp__it__gr", "Tab");
    await shows("> /mcp__it__greet");
    screen.type("who=amb", "Tab");
    await shows("> /mcp__it__greet who=amber");
    screen.type("Enter");
    await shows("Greetings.");
    expect((await model.request(3)).messages.at(-1)?.parts).toContainEqual({
      type: "text",
      text: 'greet {"who":"amber"}',
    });
    screen.type("read @it:fake://re", "Tab");
    await shows("> read @it:fake://readme");
    screen.type("Enter");
    await shows("I read it.");
    expect((await model.request(4)).text).toContain("text of fake://readme");
    screen.paste("one\ntwo 日本\n");
    await shows("> one↵two 日本↵");
    screen.type("Enter");
    await shows("Two lines.");
    expect((await model.request(5)).messages.at(-1)?.parts).toEqual([
      { type: "text", text: "one\ntwo 日本" },
    ]);

    // An endpoint that limits, and a server in trouble.
    await says("more");
    await shows("limits requests (429)");
    await shows("Say it again in 9 s.");
    await says("crash");
    await shows("It is gone.");
    await shows("! it  ");

    // The servers.
    screen.type("/mcp disable it", "Enter");
    await shows("it: disabled for this run.");
    screen.type("/mcp", "Enter");
    await shows("◆  Which server?");
    screen.type("Up", "Enter");
    await shows("◆  it:");
    screen.type("Enter");
    await expect
      .poll(screen.capture, { timeout: 15_000 })
      .toMatch(/it: enabled for this run\.[^]*◆ {2}Which server\?/);
    screen.type("Escape");
    await isReady();

    // Two Ctrl-C leave, and the conversation can be resumed.
    screen.type("C-c");
    await shows("Press Ctrl-C again to leave.\n");
    screen.type("C-c");
    screen.end();
    expect(await scene.chat(["--continue"], { input: "Hello?" })).toMatchObject({ code: 6 });
    expect(model.received.at(-1)?.text).toContain("It is gone.");
  });

  it("goes on after one of several questions, a form or a command was cancelled", async () => {
    const sleep = { tool: "sleep", args: { ms: 1 } };
    const { box } = await chatScene([
      { calls: [sleep, sleep] },
      { text: "Still here." },
      { calls: [{ tool: "elicit", args: { message: "Who are you?", schema: form } }] },
      { text: "And now." },
    ]);
    const file = "home/.config/plugboard/config.json";
    const config = JSON.parse(box.read(file)) as { mcpServers: object };
    const never = { command: process.execPath, args: ["-e", "process.stdin.resume()"] };
    box.write(file, {
      ...config,
      mcpServers: { ...config.mcpServers, never },
      approval: { tools: { elicit: "approve" } },
    });
    const screen = onScreen(box, ["chat"], { columns: 100, rows: 60 });
    const shows = async (pattern: RegExp) =>
      await expect.poll(screen.capture, { timeout: 15_000 }).toMatch(pattern);
    const says = async (text: string) => {
      await shows(/\n>\n*$/);
      screen.type(text, "Enter");
    };
    screen.type("/mcp disable never", "Enter");
    await shows(/never: disabled for this run\./);

    await says("sleep twice");
    await shows(/◆ {2}Call it\?/);
    screen.type("Escape");
    await shows(/Cancelled\. Press Ctrl-C again to leave\.\n\n>/);
    await says("there?");
    await shows(/Still here\./);
    expect(screen.capture().match(/Call it\?/g)).toHaveLength(1);

    await says("ask me");
    await shows(/◆ {2}it asks: Who are you\?/);
    screen.type("C-c");
    await shows(/Who are you\?[^]*Cancelled\. Press Ctrl-C again to leave\.\n\n>/);

    screen.type("/mcp enable never", "Enter");
    await shows(/never: enabled for this run\./);
    await says("/mcp connect never");
    await shows(/connecting to never/);
    screen.type("C-c");
    await shows(/\/mcp connect never\n[^]*Cancelled\.\n\n>/);
    await says("/mcp disable never");
    await shows(/Cancelled\.\n\n> \/mcp disable never\nnever: disabled for this run\./);
    await says("and?");
    await shows(/And now\./);
    screen.type("/exit", "Enter");
    screen.end();
  });

  it("logs in to a server and out of it on the screen of the servers", async () => {
    const auth = await startAuthServer({ autoConsent: true });
    const server = await startProtectedMcp(auth);
    onTestFinished(async () => {
      await server.close();
      await auth.close();
    });
    const { box } = await chatScene([]);
    const file = "home/.config/plugboard/config.json";
    const { chat } = JSON.parse(box.read(file)) as { chat: object };
    box.write(file, { mcpServers: { issues: { url: server.url } }, chat });
    installBrowser(box);
    const screen = onScreen(box, ["chat"], { columns: 100, rows: 60 });
    const shows = async (pattern: RegExp) =>
      await expect.poll(screen.capture, { timeout: 15_000 }).toMatch(pattern);
    await shows(/! issues {2}needs-auth/);
    screen.type("/mcp", "Enter");
    await shows(/issues +needs-auth[^]*◆ {2}Which server\?/);
    screen.type("Up", "Enter");
    await shows(/◆ {2}issues:/);
    screen.type("Down", "Enter");
    await shows(/issues: logged in as [^]*issues +connected[^]*◆ {2}Which server\?/);
    screen.type("Up", "Enter");
    await shows(/logged in as [^]*◆ {2}issues:[^]*Log out/);
    screen.type("Down", "Down", "Enter");
    await shows(/issues: logged out\.[^]*◆ {2}Which server\?/);
    screen.type("Enter");
    await shows(/\n>\n*$/);
    screen.type("/exit", "Enter");
    screen.end();
  });
});
