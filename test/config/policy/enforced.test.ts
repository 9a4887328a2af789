import { chmodSync, existsSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createHub, loadConfig } from "../../../src/index.ts";
import type { ServerConfig } from "../../../src/index.ts";
import { managedFolder, platformFolders } from "../../../src/lib/folders.ts";
import { growth } from "../../processor-time.ts";
import { fakeStdio } from "../../fixtures/fake/index.ts";
import { createSandbox } from "../../sandbox.ts";
import type { Sandbox } from "../../sandbox.ts";
import { plainHttp } from "../../servers/http-fixture.ts";
import { inProcessFake, openFake } from "../../servers/hub-fixture.ts";
import { failure } from "../../servers/rpc-fixture.ts";

const denied = { code: "policy-denied", server: "it" };
const config = "home/.config/plugboard/config.json";
const policyFile = "managed/managed.json";

/** A program that leaves a mark when it runs. */
function marker(box: Sandbox): { program: string; hasRun: () => boolean } {
  const program = box.write("mark", `#!/bin/sh\ntouch ${box.path("ran")}\necho ok\n`);
  chmodSync(program, 0o755);
  return { program, hasRun: () => existsSync(box.path("ran")) };
}

describe("M07 a value that is known only when the server starts", () => {
  it("is judged before anything is sent or run for it: a URL", async () => {
    await using fake = await openFake();
    const box = createSandbox({ [policyFile]: { deniedMcpServers: [{ serverUrl: fake.url }] } });
    box.env["ADDRESS"] = fake.url;
    const { program, hasRun } = marker(box);
    const it: ServerConfig = {
      url: "${ADDRESS}",
      headers: { "x-a": `\${cmd:${program}}` },
      headersHelper: [program],
    };
    await using hub = await createHub({ servers: { it } }, box.options);
    expect(hub.status()).toMatchObject([{ name: "it", state: "ready" }]);
    expect(await failure(hub.connect("it"))).toMatchObject(denied);
    expect(hasRun()).toBe(false);
    expect(fake.received).toEqual([]);
  });

  it("is judged before anything is run for it: the folders in which an allowed script finds its interpreter", async () => {
    const box = createSandbox({ "bin/tool": "#!/usr/bin/env interpreter\n" });
    const { program, hasRun } = marker(box);
    mkdirSync(box.path("evil"));
    renameSync(program, box.path("evil/interpreter"));
    chmodSync(box.path("bin/tool"), 0o755);
    box.write(policyFile, { allowedMcpServers: [{ serverCommand: ["tool"] }] });
    Object.assign(box.env, { FOLDER: box.path("evil"), PATH: `${box.path("bin")}:${box.env["PATH"]}` });
    const env = { PATH: "${FOLDER}:${PATH}" };
    await using hub = await createHub({ servers: { it: { command: "tool", env } } }, box.options);
    const error = await failure(hub.connect("it"));
    expect(error).toMatchObject(denied);
    expect(error.message).toContain("it sets PATH");
    expect(hasRun()).toBe(false);
  });

  it("is judged before anything is run for it: a command and its PATH", async () => {
    const box = createSandbox({ "evil/tool": "#!/bin/sh\n", "bin/tool": "#!/bin/sh\n" });
    for (const folder of ["bin", "evil"]) chmodSync(box.path(`${folder}/tool`), 0o755);
    box.write(policyFile, { allowedMcpServers: [{ serverCommand: ["tool"] }] });
    const { program, hasRun } = marker(box);
    Object.assign(box.env, { FOLDER: box.path("evil"), PATH: `${box.path("bin")}:${box.env["PATH"]}` });
    const env = { PATH: "${FOLDER}", TOKEN: `\${cmd:${program}}` };
    await using hub = await createHub({ servers: { it: { command: "tool", env } } }, box.options);
    expect(await failure(hub.connect("it"))).toMatchObject(denied);
    expect(hasRun()).toBe(false);
  });

  it("may not come from a command, because that would run before the verdict", async () => {
    const box = createSandbox({ [policyFile]: { deniedMcpServers: [{ serverUrl: "https://evil.test" }] } });
    const { program, hasRun } = marker(box);
    const servers = { it: { url: `https://\${cmd:${program}}.test/` }, other: { command: "true" } };
    box.write(config, { mcpServers: servers });
    const loaded = await loadConfig(box.options);
    expect(loaded.servers.get("it")?.status).toMatchObject({ reason: "policy" });
    expect(loaded.servers.get("other")?.status).toEqual({ kind: "ready" });
    await using hub = await createHub(loaded);
    expect(await failure(hub.connect("it"))).toMatchObject(denied);
    expect(hasRun()).toBe(false);
  });

  it("is judged as it will be used, even where it looks like a reference", async () => {
    const box = createSandbox({ [policyFile]: { allowedMcpServers: [{ serverCommand: ["other"] }] } });
    await using hub = await createHub({ servers: { it: { command: "$${tool}" } } }, box.options);
    expect(hub.status()).toMatchObject([{ disabledReason: "policy" }]);
  });
});

describe("M07 a policy that changes", () => {
  it.each([
    ["with variables", { cwd: "${HOME}" }],
    ["without variables", {}],
  ])("stops a running server %s that it denies, and refuses it from then on", async (_, more) => {
    const box = createSandbox();
    const { command, args, env } = fakeStdio();
    box.write(config, {
      mcpServers: { it: { command, args, env, ...more }, other: fakeStdio({ log: box.path("log") }) },
    });
    await using hub = await createHub(await loadConfig(box.options));
    await Promise.all([hub.connect("it"), hub.connect("other")]);
    const states = () => Object.fromEntries(hub.status().map(({ name, state }) => [name, state]));
    expect(states()).toEqual({ it: "connected", other: "connected" });
    box.write(policyFile, { deniedMcpServers: [{ serverCommand: [command, ...args] }] });
    await hub.reload(await loadConfig(box.options));
    expect(states()["it"]).not.toBe("connected");
    expect(await failure(hub.connect("it"))).toMatchObject(denied);
    await hub.connect("other");
    expect(states()["other"]).toBe("connected");
  });

  it("holds for servers that are added or started before anybody loads it", async () => {
    const box = createSandbox();
    const { program, hasRun } = marker(box);
    box.write(config, { mcpServers: { it: { command: program }, other: fakeStdio() } });
    await using hub = await createHub(await loadConfig(box.options));
    await using literal = await createHub({ servers: {} }, box.options);
    await hub.connect("other");
    box.write(policyFile, { deniedMcpServers: [{ serverName: "it" }, { serverName: "other" }] });
    expect(await failure(hub.connect("it"))).toMatchObject(denied);
    expect(await failure(literal.add("it", { command: program }))).toMatchObject(denied);
    expect(await failure(hub.add("it", { command: program }))).toMatchObject(denied);
    expect(await failure(hub.add("it", inProcessFake({})))).toMatchObject(denied);
    // One that runs goes on until somebody loads the policy, but does not start again.
    await hub.disconnect("other");
    expect(await failure(hub.connect("other"))).toMatchObject({ code: "policy-denied" });
    // What cannot be read denies everything.
    box.write(policyFile, "{ broken");
    expect(await failure(literal.add("new", { command: program }))).toMatchObject({ code: "policy-denied" });
    expect(hasRun()).toBe(false);
  });

  it("leaves running servers alone that it still allows and that have no variables", async () => {
    const box = createSandbox({ [config]: { mcpServers: { it: fakeStdio() } } });
    await using hub = await createHub(await loadConfig(box.options));
    await hub.connect("it");
    box.write(policyFile, { deniedMcpServers: [{ serverName: "another" }] });
    await hub.reload(await loadConfig(box.options));
    expect(hub.status()).toMatchObject([{ name: "it", state: "connected" }]);
  });
});

describe("M07 an exclusive set", () => {
  const company = { command: "true", args: ["company"] };
  const policy = { mcpServers: { it: company } };

  it("is a set of contents: another server under one of its names is refused", async () => {
    const box = createSandbox({ [policyFile]: policy });
    await using hub = await createHub({ servers: {} }, box.options);
    expect(await failure(hub.add("it", { command: "true", args: ["mine"] }))).toMatchObject(denied);
    expect(await failure(hub.add("other", company))).toMatchObject({ code: "policy-denied" });
    await hub.add("it", { args: ["company"], command: "true" });
    expect(hub.status()).toMatchObject([{ name: "it", state: "ready" }]);
  });

  it("wins over a file that uses one of its names", async () => {
    const box = createSandbox({
      [policyFile]: policy,
      [config]: { mcpServers: { it: { command: "mine" } } },
    });
    const entry = (await loadConfig(box.options)).servers.get("it");
    expect(entry).toMatchObject({ config: company, origin: { scope: "managed" }, status: { kind: "ready" } });
  });
});

describe("M07 servers in this process", () => {
  it.each([
    [{ deniedMcpServers: [{ serverName: "it" }] }, "disabled"],
    [{ allowedMcpServers: [{ serverName: "it" }, { serverCommand: ["x"] }] }, "ready"],
    [{ allowedMcpServers: [{ serverCommand: ["in-process"] }] }, "disabled"],
    [{ deniedMcpServers: [{ serverCommand: ["in-process"] }] }, "ready"],
  ])("are judged by their name: %j", async (policy, state) => {
    const box = createSandbox({ [policyFile]: policy });
    await using hub = await createHub({ servers: { it: inProcessFake({}) } }, box.options);
    expect(hub.status()).toMatchObject([{ name: "it", state }]);
    if (state === "disabled") expect(await failure(hub.connect("it"))).toMatchObject(denied);
    else await hub.connect("it");
  });
});

describe("M07 a permitted URL", () => {
  it.each([307, 308])(
    "that redirects to a denied path of its host is not followed (HTTP %d)",
    async (status) => {
      const visited: string[] = [];
      const { origin } = await plainHttp((request, response) => {
        visited.push(request.url ?? "");
        response.writeHead(status, { location: "/%61dmin/mcp" }).end();
      });
      const box = createSandbox({ [policyFile]: { deniedMcpServers: [{ serverUrl: `${origin}/admin` }] } });
      await using hub = await createHub({ servers: { it: { url: `${origin}/mcp` } } }, box.options);
      const error = await failure(hub.connect("it"));
      expect(error.message).toContain("which the managed policy does not allow");
      expect(new Set(visited)).toEqual(new Set(["/mcp"]));
    },
  );

  it("that names a denied path for messages is not sent any", async () => {
    const visited: string[] = [];
    const { origin } = await plainHttp((request, response) => {
      visited.push(`${request.method} ${request.url}`);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("event: endpoint\ndata: /admin/messages\n\n");
    });
    const box = createSandbox({ [policyFile]: { allowedMcpServers: [{ serverUrl: `${origin}/sse` }] } });
    const it: ServerConfig = { type: "sse", url: `${origin}/sse` };
    await using hub = await createHub({ servers: { it } }, box.options);
    expect(await failure(hub.connect("it"))).toMatchObject(denied);
    expect(visited).toEqual(["GET /sse"]);
  });
});

describe("M07 a rule that cannot match", () => {
  const rules: [object, RegExp][] = [
    [{ serverUrl: "api.test" }, /starts with a scheme and a host/],
    [{ serverUrl: "https://" }, /not a host/],
    [{ serverUrl: "https://exa mple.test" }, /not a host/],
    [{ serverUrl: "https://999.1.1.1" }, /not a host/],
    [{ serverUrl: "ftp://api.test" }, /neither http nor https/],
    [{ serverUrl: "https://me@api.test" }, /user name/],
    [{ serverUrl: "https://api.test:port" }, /not a port/],
    [{ serverUrl: "https://api.test:70000" }, /not a port/],
    [{ serverUrl: "https://api.test/#mcp" }, /`#`/],
    [{ serverUrl: "https://api.test\\mcp" }, /not a host/],
    [{ serverUrl: "https://büch*.test" }, /not a host/],
    [{ serverUrl: "http://192.168.?.1" }, /"\?" begins the query/],
    [{ serverUrl: "http://10.0.0.0/8" }, /a range of addresses is written with `\*`/],
    [{ serverCommand: [""] }, /cannot be empty/],
    [{ serverCommand: ["npx -y bad"] }, /string of its own/],
    [{ serverCommand: ["${HOME}/bad"] }, /\$\{…\}/],
    [{ serverName: " " }, /empty name/],
  ];

  it.each(rules)("%j: a list that denies with it lets nothing run, and says why", async (rule, words) => {
    const box = createSandbox({
      [config]: { mcpServers: { it: { command: "true" } } },
      [policyFile]: { deniedMcpServers: [{ serverName: "fine" }, rule] },
    });
    const { servers, policy } = await loadConfig(box.options);
    expect(servers.get("it")?.status).toMatchObject({ reason: "policy" });
    expect(policy.broken).toMatch(words);
    expect(policy.broken).toContain("deniedMcpServers[1]");
    expect((await box.cli(["doctor"])).out).toMatch(words);
  });

  it.each(rules)("%j: a list that allows with it says where and why", async (rule, words) => {
    const box = createSandbox({
      [config]: { mcpServers: { it: { command: "true" } } },
      [policyFile]: { allowedMcpServers: [rule, { serverName: "it" }] },
    });
    const { diagnostics } = await loadConfig(box.options);
    expect(diagnostics).toMatchObject([{ severity: "warning", path: "allowedMcpServers[0]", line: 3 }]);
    expect(diagnostics[0]?.message).toMatch(words);
    expect((await box.cli(["doctor"])).out).toMatch(words);
  });

  it.each([
    [
      [{ serverName: "it" }, { serverCommand: ["x"] }, { serverUrl: "https://x.test" }],
      [],
      /a name is not enough/,
    ],
    [[{ serverName: "it" }], [{ serverName: "it" }], /deniedMcpServers has the same rule/],
  ])("because of the others is reported too", async (allowedMcpServers, deniedMcpServers, words) => {
    const box = createSandbox({ [policyFile]: { allowedMcpServers, deniedMcpServers } });
    const { diagnostics } = await loadConfig(box.options);
    expect(diagnostics.map(({ message }) => message).join()).toMatch(words);
  });

  it.each([
    { serverUrl: "https://a.test", why: "for hosts" },
    { serverWord: "x" },
    { serverName: "a", serverUrl: "https://a.test" },
  ])("because of its fields lets nothing run: %j", async (rule) => {
    const box = createSandbox({
      [config]: { mcpServers: { it: { command: "true" } } },
      [policyFile]: { allowedMcpServers: [{ serverName: "it" }, rule] },
    });
    expect((await loadConfig(box.options)).servers.get("it")?.status).toMatchObject({ reason: "policy" });
  });
});

describe("M07 many rules", () => {
  const many = <T>(count: number, one: (at: number) => T) =>
    Array.from({ length: count }, (_, at) => one(at));

  it.each<[string, (at: number) => object]>([
    ["commands", (at) => ({ serverCommand: [`program-${at}`] })],
    ["URLs", (at) => ({ serverUrl: `https://${at}.test/mcp` })],
  ])("for %s are not looked up again for each server", async (_, rule) => {
    const servers = Object.fromEntries(
      many(200, (at) => [
        `s${at}`,
        at % 2 === 0 ? { command: `server-${at}` } : { url: `https://s${at}.test` },
      ]),
    );
    const load = (count: number) => {
      const box = createSandbox({ [config]: { mcpServers: servers } });
      box.write(policyFile, { deniedMcpServers: many(count, rule) });
      return () => loadConfig(box.options);
    };
    expect(await growth(load(20), load(160), { enough: 3 })).toBeLessThan(4);
  });
});

describe("M07 a policy that cannot be read", () => {
  const states: [string, (box: Sandbox) => void, RegExp][] = [
    ["is empty", (box) => box.write(policyFile, "\n"), /managed\.json is empty/],
    ["is a folder", (box) => mkdirSync(box.path(policyFile), { recursive: true }), /is a folder/],
    [
      "is a link to nothing",
      (box) => {
        mkdirSync(box.path("managed"));
        symlinkSync(box.path("not-mounted/managed.json"), box.path(policyFile));
      },
      /managed\.json leads to no file/,
    ],
    [
      "is in a folder that is a link to nothing",
      (box) => symlinkSync(box.path("not-mounted"), box.path("managed")),
      /managed leads to no file/,
    ],
    ["should be in a folder that is a file", (box) => box.write("managed", ""), /leads to no file/],
    ["is a list", (box) => box.write(policyFile, "[]"), /managed\.json: expected an object/],
  ];

  it.each(states)("because it %s lets nothing run", async (_, prepare, words) => {
    const box = createSandbox({ [config]: { mcpServers: { it: { command: "true" } } } });
    prepare(box);
    const { servers, policy } = await loadConfig(box.options);
    expect(servers.get("it")?.status).toMatchObject({ reason: "policy" });
    expect(policy.broken).toMatch(words);
  });

  it.each(states)("because it %s lets nothing of a new configuration in code run", async (_, prepare) => {
    const box = createSandbox();
    await using hub = await createHub({ servers: {} }, box.options);
    prepare(box);
    await hub.reload({ servers: { it: { command: "true" } } });
    expect(hub.status()).toMatchObject([{ name: "it", disabledReason: "policy" }]);
  });
});

describe("M07 the folder of the policy", () => {
  it.each(["win32", "darwin", "linux"] as const)("is fixed: no variable moves it on %s", (platform) => {
    const moved = { HOME: "/evil", ProgramData: "E:\\evil", PROGRAMDATA: "E:\\evil", SystemDrive: "E:" };
    const xdg = { XDG_CONFIG_HOME: "/evil", XDG_CONFIG_DIRS: "/evil", APPDATA: "E:\\evil" };
    const { managed } = platformFolders({ ...moved, ...xdg }, undefined, platform);
    expect(managed).toBe(managedFolder(platform));
    expect(managed).not.toMatch(/evil|E:/);
  });
});
