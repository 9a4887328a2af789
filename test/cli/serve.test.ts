import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { listenFrom } from "../../src/cli/serve/over-http.ts";
import { reachableHost } from "../../src/cli/serve/settings.ts";
import { createGateway } from "../../src/gateway/index.ts";
import { Workspace } from "../../src/config.ts";
import { createHub } from "../../src/index.ts";
import { guardedOutput } from "../../src/cli/terminal/terminal.ts";
import { Interrupted } from "../../src/cli/terminal/signals.ts";
import { startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import { fakeStdio, startFakeHttp } from "../fixtures/fake/index.ts";
import type { FakeHttp } from "../fixtures/fake/index.ts";
import { openClient } from "../gateway/clients/open-client.ts";
import { StdioWire } from "../gateway/clients/stdio-wire.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { startServing } from "./serving.ts";

const user = "home/.config/plugboard/config.json";
const names = (result: Record<string, unknown>) =>
  (result["tools"] as { name: string }[]).map(({ name }) => name);

describe("M80 serve", () => {
  it.each(["legacy", "modern"] as const)("offers all servers as one to a %s client", async (era) => {
    const box = createSandbox({ [user]: { mcpServers: { one: fakeStdio(), two: fakeStdio() } } });
    const serving = await startServing(box);
    await serving.logs(/one +connected[\s\S]*two +connected|two +connected[\s\S]*one +connected/);
    const client = await serving.open(era);
    const tools = names(await client.result(client.request("tools/list")));
    expect(tools).toEqual(expect.arrayContaining(["one__echo", "two__echo"]));
    const { content } = await client.result(client.call("two__echo", { text: "hi" }));
    expect(JSON.stringify(content)).toContain("hi");
    expect(await serving.stop()).toMatchObject({ code: 0 });
  });

  it("prints one line of JSON with the URL and the token's file, and never the token", async () => {
    const box = createSandbox();
    const serving = await startServing(box);
    expect(serving.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    expect(serving.tokenFile).toBe(box.path("home/.local/state/plugboard/gateway/token"));
    const { out, err } = await serving.stop();
    expect(out.trim().split("\n")).toHaveLength(1);
    expect(out + err).not.toContain(serving.token);
  });

  it("lets nobody in without the token", async () => {
    const serving = await startServing(createSandbox());
    const body = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await serving.post(body, {})).status).toBe(401);
    expect((await serving.post(body, { authorization: "Bearer wrong" })).status).toBe(401);
  });

  it("needs no token with --no-auth, and says what that means", async () => {
    const box = createSandbox();
    const serving = await startServing(box, ["--no-auth"]);
    expect(serving).toMatchObject({ auth: "none", token: undefined });
    await (await serving.open("modern")).request("tools/list").answer;
    const { out } = await serveOnce(box, ["--no-auth"]);
    expect(out).toContain("Every program on this machine can use these servers");
    expect(out).not.toContain("PLUGBOARD_TOKEN");
  });

  it.each([
    ["127.0.0.1", [], "127.0.0.1"],
    ["::1", [], "[::1]"],
    ["0.0.0.0", [], "127.0.0.1"],
    ["::", ["tools.example:7420"], "tools.example"],
    ["192.0.2.1", ["tools.example"], "192.0.2.1"],
  ])("names an address that clients can use if it listens on %s (%j)", (host, allowedHosts, shown) => {
    expect(reachableHost({ host, gateway: { allowedHosts } })).toBe(shown);
  });

  it("replaces the token with --new-token", async () => {
    const box = createSandbox();
    const first = await startServing(box);
    const second = await startServing(box, ["--new-token"]);
    expect(second.token).not.toBe(first.token);
    expect(second.err()).toContain("accepts the old token until it is restarted");
    const third = await startServing(box);
    expect(third.token).toBe(second.token);
  });

  it("offers only a bundle with --bundle, on every path", async () => {
    const box = createSandbox();
    const log = box.path("log");
    box.write(user, {
      mcpServers: { one: fakeStdio(), two: fakeStdio({ log }) },
      bundles: {
        small: { servers: ["one"], tools: { allow: ["echo"] } },
        large: { servers: ["one", "two"] },
      },
    });
    const serving = await startServing(box, ["--bundle", "small"]);
    await serving.logs(/one +connected/);
    const client = await serving.open("modern");
    expect(names(await client.result(client.request("tools/list")))).toEqual(["one__echo"]);
    expect(serving.err()).not.toContain("two");
    const answer = await fetch(`${serving.url}/large`, {
      method: "POST",
      headers: { authorization: `Bearer ${serving.token}`, "content-type": "application/json" },
      body: "{}",
    });
    expect(answer.status).toBe(404);
  });
});

describe("M80 headers of clients", () => {
  it.each(["legacy", "modern"] as const)(
    "of a %s client reach a server only where they are mapped",
    async (era) => {
      const [one, two] = await Promise.all([startFakeHttp(), startFakeHttp()]);
      onTestFinished(async () => void (await Promise.all([one.close(), two.close()])));
      const box = createSandbox({
        [user]: {
          mcpServers: { one: { url: one.url }, two: { url: two.url } },
          gateway: { headers: { one: { "X-Person": "Authorization" } } },
        },
      });
      const serving = await startServing(box);
      await serving.logs(/one +connected[\s\S]*two +connected|two +connected[\s\S]*one +connected/);
      const client = await serving.open(era);
      const headers = { "x-person": "Bearer ada", "x-other": "secret", cookie: "a=secret" };
      for (const tool of ["one__echo", "two__echo"]) await client.result(client.call(tool, {}, { headers }));
      const call = ({ received }: FakeHttp) =>
        received.find(({ message }) => message?.["method"] === "tools/call");
      expect(call(one)?.headers).toMatchObject({ authorization: "Bearer ada" });
      expect(call(two)?.headers).not.toHaveProperty("authorization");
      const all = JSON.stringify([...one.received, ...two.received]);
      for (const text of ["secret", "x-person", serving.token ?? ""]) expect(all).not.toContain(text);
    },
  );
});

/** What `serve` prints for a person or a file. */
async function serveOnce(
  box: Sandbox,
  args: readonly string[] = [],
  screen?: { columns: number; rows: number },
) {
  const interrupt = new AbortController();
  return box.cli(["serve", "--port", "0", ...args], {
    signal: interrupt.signal,
    ...(screen && { screen }),
    onOut: (out) => out.includes("Gemini CLI") && interrupt.abort(new Interrupted("SIGINT")),
  });
}

describe("M80 what serve prints", () => {
  it("says where it is, what it serves and how to connect each client, without the token in a file", async () => {
    const box = createSandbox({ [user]: { mcpServers: { files: fakeStdio() } } });
    const { out, code } = await serveOnce(box);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^Plugboard serves 1 server at http:\/\/127\.0\.0\.1:\d+\/mcp\n\n {2}files {2}starting\n/,
    );
    const token = box.read("home/.local/state/plugboard/gateway/token").trim();
    expect(out).not.toContain(token);
    expect(out).toContain(
      `export PLUGBOARD_TOKEN="$(cat ${box.path("home/.local/state/plugboard/gateway/token")})"`,
    );
    for (const client of [
      "Claude Code",
      "Claude Desktop",
      "Codex",
      "Cursor",
      "VS Code",
      "opencode",
      "Gemini CLI",
    ])
      expect(out).toContain(`\n${client}`);
  });

  it("shows the token on a screen, once, and in no line for a client", async () => {
    const box = createSandbox({ [user]: { mcpServers: { files: fakeStdio() } } });
    const { out } = await serveOnce(box, [], { columns: 80, rows: 24 });
    const token = box.read("home/.local/state/plugboard/gateway/token").trim();
    expect(out.split(token)).toHaveLength(2);
    expect(out).toContain(`\n  ${token}\n`);
  });

  it("does not repeat a token from PLUGBOARD_TOKEN", async () => {
    const box = createSandbox();
    box.env = { ...box.env, PLUGBOARD_TOKEN: "a-long-and-random-text" };
    const { out, err } = await serveOnce(box, [], { columns: 80, rows: 24 });
    expect(out + err).not.toContain("a-long-and-random-text");
    expect(out).toContain("Clients need the token from PLUGBOARD_TOKEN");
  });

  it("names servers that are not started, with the command that changes it, and starts none of them", async () => {
    const box = createSandbox();
    const log = box.path("log");
    box.write(user, {
      mcpServers: {
        off: { ...fakeStdio({ log }), enabled: false },
        self: { command: "npx", args: ["plugboard", "serve", "--stdio"] },
      },
    });
    box.write("project/.mcp.json", { mcpServers: { theirs: fakeStdio({ log }) } });
    const { out } = await serveOnce(box);
    expect(out).toMatch(/theirs {2}untrusted: .*plugboard trust theirs/);
    expect(out).toMatch(/off {5}off/);
    expect(out).toMatch(/self {4}loop: it leads back to this Plugboard/);
    expect(existsSync(log)).toBe(false);
  });

  it("says that a client does not get what a variable of this shell names", async () => {
    const box = createSandbox({ "home/other.json": { mcpServers: { files: fakeStdio() } } });
    box.env = { ...box.env, PLUGBOARD_CONFIG: box.path("home/other.json") };
    const note = "without the servers that only this one has: files.";
    expect((await serveOnce(box)).out).toContain(note);
    expect((await serveOnce(box, ["--config", box.path("home/other.json")])).out).not.toContain(note);
  });

  it("uses no settings of a project before they are trusted, and says so", async () => {
    const box = createSandbox({ "project/plugboard.json": { gateway: { auth: "none" } } });
    const serving = await startServing(box);
    expect(serving).toMatchObject({ auth: "token" });
    await serving.logs(/settings and bundles in .*plugboard\.json are not used: review them/);
  });

  it("offers a demo without servers, and says so", async () => {
    const { out } = await serveOnce(createSandbox());
    expect(out).toContain("Plugboard serves a demo at http://127.0.0.1:");
    expect(out).toContain("plugboard add");
    const serving = await startServing(createSandbox());
    await serving.logs(/demo +connected/);
    const client = await serving.open("modern", {
      capabilities: { elicitation: { form: {} } },
      answer: () => ({ action: "accept", content: { colour: "blue" } }),
    });
    expect(await client.result(client.call("demo__ask_me"))).toMatchObject({
      content: [{ text: "You like blue." }],
    });
  });
});

describe("M80 what serve refuses", () => {
  it.each([
    [["--port", "7x"], 2, "is not a port"],
    [["--port", "70000"], 2, "is not a port"],
    [["--no-auth", "--host", "0.0.0.0"], 2, "everybody who reaches 0.0.0.0 could use all servers"],
    [["--bundle", "redaing"], 4, "Did you mean reading?"],
    [["--stdio", "--port", "1", "--no-auth"], 2, "--stdio cannot be combined with --port, --no-auth"],
    [["--stdio", "--json"], 2, "--stdio cannot be combined with --json"],
  ])("%j", async (args, code, message) => {
    const box = createSandbox({
      [user]: { mcpServers: { one: fakeStdio() }, bundles: { reading: { servers: ["one"] } } },
    });
    const run = await box.cli(["serve", ...args]);
    expect(run.code).toBe(code);
    expect(run.err + run.out).toContain(message);
  });

  it("a configured `auth: none` on a public address", async () => {
    const box = createSandbox({ [user]: { gateway: { host: "::", auth: "none" } } });
    expect(await box.cli(["serve"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("Set `gateway.auth` to `token`") as string,
    });
  });

  it("settings with a mistake, instead of serving with others than were meant", async () => {
    const box = createSandbox({ [user]: '{\n  "gateway": {\n    "adress": "127.0.0.2"\n  }\n}' });
    expect(await box.cli(["serve"])).toMatchObject({
      code: 3,
      err: expect.stringContaining(`${box.path(user)}:3: gateway.adress: unknown field`) as string,
    });
  });

  it("a file of the user's with a mistake in it, because its rules would be missing", async () => {
    const box = createSandbox({ "project/.mcp.json": { mcpServers: { theirs: fakeStdio() } } });
    await box.cli(["trust", "theirs", "--yes"]);
    const refused = (mistake: string) => ({ code: 3, err: expect.stringContaining(mistake) as string });
    box.write(user, '{\n  "approval": "deny"\n  "gateway": { "port": 0 }\n}');
    expect(await box.cli(["serve"])).toMatchObject(refused(`${box.path(user)}:3: a comma is missing`));
    expect(await box.cli(["serve", "--stdio"])).toMatchObject(refused("a comma is missing"));
    box.write(user, { approval: { default: "dney" } });
    expect(await box.cli(["serve"])).toMatchObject(refused("approval.default: expected"));
    box.write(user, { mcpServers: [] });
    expect(await box.cli(["serve"])).toMatchObject(refused("mcpServers: expected an object"));
  });

  it("nothing because of a mistake in a project's file, which it reports", async () => {
    const box = createSandbox({ [user]: { mcpServers: { one: fakeStdio() } } });
    for (const text of ['{ "gateway": { "adress": 1 } }', '{ "gateway": {']) {
      box.write("project/plugboard.json", text);
      const serving = await startServing(box);
      await serving.logs(/one +connected/);
      expect(serving.err()).toContain(`error: ${box.path("project/plugboard.json")}:1`);
      await serving.stop();
    }
  });

  it("an address that is empty, which would be every network, or of another machine", async () => {
    const box = createSandbox();
    expect(await box.cli(["serve", "--host", ""])).toMatchObject({
      code: 2,
      err: expect.stringContaining("Leave it out to listen on 127.0.0.1") as string,
    });
    expect(await box.cli(["serve", "--host", "192.0.2.1"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("Choose another one with `--host`") as string,
    });
    const serving = await startServing(box, ["--host", "[::1]"]);
    expect(new URL(serving.url).hostname).toBe("[::1]");
    expect((await serving.post({})).status).toBe(400);
  });

  it("a port that is taken", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const box = createSandbox();
    const run = await box.cli(["serve", "--port", String(port)]);
    expect(run).toMatchObject({ code: 2, err: expect.stringContaining(`Port ${port} is in use`) as string });
    box.write(user, { gateway: { port } });
    expect(await box.cli(["serve"])).toMatchObject({ code: 2 });
  });

  it("no port by default: it takes the next free one", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const hub = await createHub({ servers: {} });
    const gateway = createGateway(hub, { token: "a-long-and-random-text" });
    const bound = await listenFrom(gateway, "127.0.0.1", port);
    expect(bound.port).toBeGreaterThan(port);
    await gateway.close();
    await hub.close();
  });

  it("plain names for several servers", async () => {
    const gateway = { names: { style: "plain" } };
    const box = createSandbox({
      [user]: {
        mcpServers: { one: fakeStdio(), two: fakeStdio() },
        bundles: { single: { servers: ["one"] } },
        gateway,
      },
    });
    expect(await box.cli(["serve"])).toMatchObject({
      code: 3,
      err: expect.stringContaining("only for exactly one server, but there are 2") as string,
    });
    const serving = await startServing(box, ["--bundle", "single"]);
    await serving.logs(/one +connected/);
    const client = await serving.open("modern");
    expect(names(await client.result(client.request("tools/list")))).toContain("echo");
  });
});

describe("M80 serve follows the configuration", () => {
  it("adds and removes servers, keeps the old configuration while the file is broken, and says so", async () => {
    const box = createSandbox();
    const serving = await startServing(box);
    await serving.logs(/demo +connected/);
    const client = await serving.open("legacy");
    await client.listen({ tools: true });
    box.write(user, { mcpServers: { one: fakeStdio() } });
    await serving.logs("The configuration has changed: added one.");
    await serving.logs(/one +connected/);
    await client.sees("the change", ({ method }) => method === "notifications/tools/list_changed");
    const tools = names(await client.result(client.request("tools/list")));
    expect(tools).toContain("one__echo");
    expect(tools.filter((name) => name.startsWith("demo"))).toEqual([]);
    box.write(user, "{ broken");
    await serving.logs(/The configuration stays as it was: .*config\.json/);
    await client.result(client.call("one__echo", { text: "still here" }));
    box.write(user, { mcpServers: {} });
    await serving.logs("The configuration can be read again.");
    await serving.logs("The configuration has changed: removed one.");
  });

  it("notices that a project's server was trusted", async () => {
    const box = createSandbox({ "project/.mcp.json": { mcpServers: { theirs: fakeStdio() } } });
    const serving = await startServing(box);
    await box.cli(["trust", "theirs", "--yes"]);
    await serving.logs(/theirs +connected/);
  });

  it("stops a running server when trust in it is revoked, in the middle of a call", async () => {
    const log = createSandbox().path("log");
    const silent = { when: { tool: "echo" }, do: [{ silent: true as const }] };
    const theirs = fakeStdio({ log, on: [silent] });
    const box = createSandbox({ "project/.mcp.json": { mcpServers: { theirs } } });
    await box.cli(["trust", "theirs", "--yes"]);
    const serving = await startServing(box);
    await serving.logs(/theirs +connected/);
    const client = await serving.open("legacy");
    const running = client.call("theirs__echo", { text: "hi" });
    await vi.waitFor(() => expect(readFileSync(log, "utf8")).toContain("tools/call"));
    await box.cli(["trust", "--revoke", "theirs"]);
    expect((await running.answer).result).not.toMatchObject({ isError: false });
    await serving.logs(/theirs +untrusted/);
    expect(names(await client.result(client.request("tools/list")))).toEqual([]);
  });

  it("connects a server that needed a login once somebody has logged in elsewhere", async () => {
    const auth = await startAuthServer({ autoConsent: true });
    const server = await startProtectedMcp(auth, {});
    onTestFinished(async () => {
      await server.close();
      await auth.close();
    });
    const box = createSandbox({ [user]: { mcpServers: { issues: { url: server.url } } } });
    const serving = await startServing(box);
    await serving.logs(/issues +needs-auth .*→ Run `plugboard login issues`/);
    const workspace = await Workspace.open(box.options);
    const other = await createHub(await workspace.load(), {
      ...(await workspace.hubOptions(await workspace.load())),
      start: false,
    });
    await other.login("issues", { openUrl: async (url) => void (await (await fetch(url)).text()) });
    await other.close();
    await workspace.close();
    await serving.logs(/issues +connected/);
  });

  it("keeps what it has if the new configuration cannot be served", async () => {
    const box = createSandbox({
      [user]: { mcpServers: { one: fakeStdio() }, gateway: { names: { style: "plain" } } },
    });
    const serving = await startServing(box);
    await serving.logs(/one +connected/);
    box.write(user, {
      mcpServers: { one: fakeStdio(), two: fakeStdio() },
      gateway: { names: { style: "plain" } },
    });
    await serving.logs("The configuration stays as it was: The names of tools are `plain`");
    box.write(user, { mcpServers: { one: fakeStdio() }, approval: "dney" });
    await serving.logs(/stays as it was: .*approval: expected/);
    const client = await serving.open("modern");
    expect(names(await client.result(client.request("tools/list")))).toContain("echo");
  });
});

describe("M80 serve --stdio", () => {
  it.each(["legacy", "modern"] as const)("serves a %s client, and ends with its input", async (era) => {
    const box = createSandbox({ [user]: { mcpServers: { one: fakeStdio() } } });
    const pipes = { input: new PassThrough(), output: new PassThrough() };
    let err = "";
    const run = box.cli(["serve", "--stdio"], { pipes, onErr: (text) => (err = text) });
    const client = await openClient(era, new StdioWire(pipes.input, pipes.output));
    const { content } = await client.result(client.call("one__echo", { text: "hi" }));
    expect(JSON.stringify(content)).toContain("hi");
    await client.close();
    expect(await run).toMatchObject({ code: 0, out: "" });
    expect(err).toMatch(/one +connected/);
  });

  it("ends with its input while servers still start", async () => {
    const box = createSandbox({
      [user]: {
        mcpServers: { slow: { command: process.execPath, args: ["-e", "setInterval(() => 0, 1000)"] } },
      },
    });
    const input = new PassThrough();
    input.end();
    const run = await box.cli(["serve", "--stdio"], { pipes: { input, output: new PassThrough() } });
    expect(run).toMatchObject({ code: 0, out: "" });
  });

  it("fails if a required server does not start", async () => {
    const box = createSandbox({
      [user]: { mcpServers: { bad: { command: "no-such-program-here", required: true } } },
    });
    const pipes = { input: new PassThrough(), output: new PassThrough() };
    const run = await box.cli(["serve", "--stdio"], { pipes });
    expect(run).toMatchObject({ code: 5, err: expect.stringContaining("no-such-program-here") as string });
  });

  it("lets nothing but messages onto standard output", async () => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const output = guardedOutput(stdout, stderr);
    stdout.write("a stray \u001b[31mline\n");
    const written = Promise.withResolvers<void>();
    output.write("message 1\n");
    output.write("message 2\n", () => written.resolve());
    await written.promise;
    expect(String(stdout.read())).toBe("message 1\nmessage 2\n");
    expect(String(stderr.read())).toBe("a stray \\u{1b}[31mline\n");
  });
});
