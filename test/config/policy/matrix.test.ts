import { chmodSync, symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../sandbox.ts";
import { verdicts } from "./doors.ts";
import type { Server, Verdict } from "./doors.ts";

const program = { command: "true" };
const deny = (...rules: object[]) => ({ deniedMcpServers: rules });
const allow = (...rules: object[]) => ({ allowedMcpServers: rules });
const url = (serverUrl: string) => ({ serverUrl });
const at = (address: string): Server => ({ entry: { url: address } });

/** Checks one server under one policy at every door. */
async function expectEverywhere(policy: object, server: Server, verdict: Verdict): Promise<void> {
  const all = await verdicts(policy, server);
  expect(all).toEqual(Object.fromEntries(Object.keys(all).map((door) => [door, verdict])));
}

describe("M07 the managed policy, at every door: names", () => {
  it.each<[string, object, Server, Verdict]>([
    ["a denied name", deny({ serverName: "it" }), { entry: program }, "refused"],
    ["a denied name in capitals", deny({ serverName: "it" }), { name: "IT", entry: program }, "refused"],
    [
      "a denied name in other letters of the same look",
      deny({ serverName: "it" }),
      { name: "ｉt", entry: program, without: ["plugboard add", "plugboard import"] },
      "refused",
    ],
    [
      "a denied name whose rule writes its letters in parts",
      deny({ serverName: "b\u0075\u0308cher" }),
      { name: "b\u00FCcher", entry: program, without: ["plugboard add", "plugboard import"] },
      "refused",
    ],
    [
      "a denied name with a space after it",
      deny({ serverName: "it" }),
      { name: "it ", entry: program, without: ["plugboard add", "plugboard import"] },
      "refused",
    ],
    ["a denied pattern", deny({ serverName: "i*" }), { entry: program }, "refused"],
    ["another name than the denied one", deny({ serverName: "that" }), { entry: program }, "allowed"],
    ["an allowed name", allow({ serverName: "it" }), { entry: program }, "allowed"],
    ["an allowed name in capitals", allow({ serverName: "it" }), { name: "It", entry: program }, "allowed"],
    ["another name than the allowed one", allow({ serverName: "that" }), { entry: program }, "refused"],
    ["anything, when nothing is allowed", allow(), { entry: program }, "refused"],
    [
      "an allowed name that is denied too",
      { ...allow({ serverName: "i*" }), ...deny({ serverName: "it" }) },
      { entry: program },
      "refused",
    ],
    [
      "an allowed name whose URL no rule allows",
      allow({ serverName: "it" }, url("https://api.test")),
      at("https://other.test/"),
      "refused",
    ],
    [
      "an allowed name with values that come later",
      allow({ serverName: "that" }),
      { entry: { command: "${HOME}/run" } },
      "refused",
    ],
  ])("%s", (_, policy, server, verdict) => expectEverywhere(policy, server, verdict));
});

describe("M07 the managed policy, at every door: URLs", () => {
  it.each<[string, string, Verdict]>([
    ["https://api.test/admin", "https://api.test/admin", "refused"],
    ["https://api.test/admin", "https://api.test/admin/", "refused"],
    ["https://api.test/admin", "https://api.test/admin/below", "refused"],
    ["https://api.test/admin", "https://api.test/admin?x=1", "refused"],
    ["https://api.test/admin", "https://api.test/%61dmin", "refused"],
    ["https://api.test/admin", "https://api.test/%2561dmin", "refused"],
    ["https://api.test/admin", "https://api.test//admin", "refused"],
    ["https://api.test/admin", "https://api.test/./admin", "refused"],
    ["https://api.test/admin", "https://api.test/x/../admin", "refused"],
    ["https://api.test/admin", "https://api.test/x/%2e%2e/admin", "refused"],
    ["https://api.test/admin", "https://api.test/x/..%2fadmin", "refused"],
    ["https://api.test/admin", "https://api.test/x%5c..%5cadmin", "refused"],
    ["https://api.test/admin", "https://api.test/admin;v=1/x", "refused"],
    ["https://api.test/admin", "https://api.test/ADMIN", "refused"],
    ["https://api.test/admin", "https://api.test\\admin", "refused"],
    ["https://api.test/admin", "HTTPS://API.TEST/admin", "refused"],
    ["https://api.test/admin", "https://api.test:443/admin", "refused"],
    ["https://api.test/admin", "https://api.test:8443/admin", "refused"],
    ["https://api.test/admin", "https://api.test./admin", "refused"],
    ["https://api.test/admin", "https://api.test/administrator", "allowed"],
    ["https://api.test/admin", "https://api.test/x/admin", "allowed"],
    ["https://api.test/admin", "https://api.test/?/admin", "allowed"],
    ["https://api.test/admin", "https://sub.api.test/admin", "allowed"],
    ["https://api.test/admin", "https://api.test.other.test/admin", "allowed"],
    ["https://api.test/admin", "http://api.test/admin", "allowed"],
    ["*://api.test/admin", "http://api.test/admin", "refused"],
    ["https://API.test./%61dmin/", "https://api.test/admin/x", "refused"],
    ["https://api.test", "https://api.test", "refused"],
    ["https://api.test", "https://api.test/any/path?q", "refused"],
    ["https://api.test/", "https://api.test/any/path", "refused"],
    ["https://api.test:443", "https://api.test/", "refused"],
    ["https://api.test:443", "https://api.test:8443/", "allowed"],
    ["https://*.test/mcp", "https://a.b.test/mcp/x", "refused"],
    ["https://*.test/*", "https://a.test/", "refused"],
    ["https://*.test", "https://other.example/.test", "allowed"],
    ["https://bücher.test", "https://xn--bcher-kva.test/mcp", "refused"],
    ["https://*.bücher.test", "https://API.BÜCHER.test/mcp", "refused"],
    ["http://127.0.0.*", "http://127.1:8080/mcp", "refused"],
    ["*://10.*", "https://10.1.2.3/mcp", "refused"],
    ["*://10.*", "https://100.1.2.3/mcp", "allowed"],
    ["https://*.1.test", "https://api.1.test/mcp", "refused"],
    ["https://api.test:0443", "https://api.test/mcp", "refused"],
    ["https://api.test/mcp?set=all of it", "https://api.test/mcp?set=all%20of+it", "refused"],
    ["https://api.test/mcp?set=all", "https://api.test/mcp?x=1&SET=%61ll", "refused"],
    ["https://api.test/mcp?set=all", "https://api.test/mcp?set=some", "allowed"],
    ["http://127.0.0.1", "http://127.1:8080/mcp", "refused"],
    ["http://127.0.0.1", "http://2130706433/", "refused"],
    ["http://127.0.0.1", "http://0x7f.0.0.1/", "refused"],
    ["http://127.0.0.1", "http://[::ffff:127.0.0.1]/", "refused"],
    ["http://[::1]:9000", "http://[0:0:0:0:0:0:0:1]:9000/mcp", "refused"],
    ["http://[::1]:9000", "http://[::1]:9001/mcp", "allowed"],
  ])("with %s denied, %s is judged right", (rule, address, verdict) =>
    expectEverywhere(deny(url(rule)), at(address), verdict),
  );

  it.each<[string, string, Verdict]>([
    ["https://api.test/mcp", "https://api.test/mcp", "allowed"],
    ["https://api.test/mcp", "https://api.test/mcp/", "allowed"],
    ["https://api.test/mcp", "https://api.test/mcp/below?x=1", "allowed"],
    ["https://api.test/mcp", "https://api.test/%6dcp", "allowed"],
    ["https://api.test/mcp", "https://api.test//mcp", "allowed"],
    ["https://api.test/mcp", "HTTPS://API.TEST.:443/mcp", "allowed"],
    ["https://api.test", "https://api.test/any/path", "allowed"],
    ["https://*.test/*", "https://api.test/mcp", "allowed"],
    ["http://localhost:*/*", "http://localhost:8080/mcp", "allowed"],
    ["https://api.test/mcp?set=some", "https://api.test/mcp?set=some", "allowed"],
    ["https://api.test/mcp?set=some", "https://api.test/mcp?set=some&set=all", "refused"],
    ["https://10.0.*.1", "https://10.0.7.1/mcp", "allowed"],
    ["https://api.test/mcp", "https://api.test/", "refused"],
    ["https://api.test/mcp", "https://api.test/mcpx", "refused"],
    ["https://api.test/mcp", "https://api.test/MCP", "refused"],
    ["https://api.test/mcp", "https://api.test/mcp/../admin", "refused"],
    ["https://api.test/mcp", "https://api.test/mcp/..%2fadmin", "refused"],
    ["https://api.test/mcp", "https://api.test/mcp/%2e%2e%5cadmin", "refused"],
    ["https://api.test/mcp", "https://api.test/mcp/..;/admin", "refused"],
    ["https://api.test/mcp", "http://api.test/mcp", "refused"],
    ["https://api.test/mcp", "https://sub.api.test/mcp", "refused"],
    ["https://api.test/mcp", "https://api.test.other.test/mcp", "refused"],
    ["https://api.test/mcp", "https://other.test/https://api.test/mcp", "refused"],
    ["https://api.test/mcp", "https://other.test/?https://api.test/mcp", "refused"],
    ["https://*.test/mcp", "https://other.example/.test/mcp", "refused"],
    ["https://api.test:443/mcp", "https://api.test:8443/mcp", "refused"],
  ])("with only %s allowed, %s is judged right", (rule, address, verdict) =>
    expectEverywhere(allow(url(rule)), at(address), verdict),
  );
});

/** `tool` of the machine, in Plugboard's own PATH, and another program of that name. */
const tools: Pick<Server, "files" | "path"> = {
  files: { "bin/tool": "#!/bin/sh\n", "evil/tool": "#!/bin/sh\n" },
  path: (box) => {
    for (const folder of ["bin", "evil"]) chmodSync(box.path(`${folder}/tool`), 0o755);
    symlinkSync(box.path("bin"), box.path("linked"));
    symlinkSync(box.path("bin/tool"), box.path("evil/renamed"));
    return `${box.path("bin")}:${process.env["PATH"]}`;
  },
};
const run =
  (command: string, more: object = {}) =>
  (box: Sandbox) => ({
    command: command.replace("BOX", box.root),
    args: ["serve"],
    ...(JSON.parse(JSON.stringify(more).replaceAll("BOX", box.root)) as object),
  });
const rule = { serverCommand: ["tool", "serve"] };

describe("M07 the managed policy, at every door: commands", () => {
  it.each<[string, ReturnType<typeof run>, Verdict]>([
    ["its words", run("tool"), "allowed"],
    ["the full path of the program", run("BOX/bin/tool"), "allowed"],
    ["a path through a link of folders", run("BOX/linked/tool"), "allowed"],
    ["harmless variables", run("tool", { env: { LEVEL: "info" } }), "allowed"],
    ["the program's own folder", run("./tool", { cwd: "BOX/bin" }), "allowed"],
    ["a PATH of folders that Plugboard's own has", run("tool", { env: { PATH: "BOX/bin" } }), "allowed"],
    ["another folder in PATH", run("tool", { env: { PATH: "BOX/bin:BOX/more" } }), "refused"],
    ["another folder in PATH, and a path", run("BOX/bin/tool", { env: { PATH: "BOX/more" } }), "refused"],
    ["the working folder in PATH", run("tool", { env: { PATH: "BOX/bin:" } }), "refused"],
    ["another home, whose settings can name other code", run("tool", { env: { HOME: "BOX" } }), "refused"],
    ["other arguments", run("tool", { args: ["serve", "-x"] }), "refused"],
    ["no arguments", run("tool", { args: [] }), "refused"],
    [
      "another PATH, where the name is another program",
      run("tool", { env: { PATH: "BOX/evil" } }),
      "refused",
    ],
    ["another program of that name", run("BOX/evil/tool"), "refused"],
    ["another program of that name in its folder", run("./tool", { cwd: "BOX/evil" }), "refused"],
    ["another name of the program", run("BOX/evil/renamed"), "refused"],
    ["a variable that loads code", run("tool", { env: { NODE_OPTIONS: "-r ./x.js" } }), "refused"],
    [
      "a variable that names another source of packages",
      run("tool", { env: { UV_CONFIG_FILE: "x" } }),
      "refused",
    ],
    ["a home folder of its own", run("tool", { env: { HOME: "BOX/evil" } }), "refused"],
    ["a usual setting of an interpreter", run("tool", { env: { NODE_ENV: "production" } }), "allowed"],
    ["a variable that replaces libraries", run("tool", { env: { LD_PRELOAD: "./x.so" } }), "refused"],
  ])("an allowed command with %s", (_, entry, verdict) =>
    expectEverywhere(allow(rule), { ...tools, entry }, verdict),
  );

  it.each<[string, ReturnType<typeof run>, Verdict]>([
    ["its words", run("tool"), "refused"],
    ["its words, with another PATH", run("tool", { env: { PATH: "BOX/evil" } }), "refused"],
    ["the full path of the program", run("BOX/bin/tool"), "refused"],
    ["a path through a link of folders", run("BOX/linked/tool"), "refused"],
    ["a link to the program", run("BOX/evil/renamed"), "refused"],
    ["the program's own folder", run("./tool", { cwd: "BOX/bin" }), "refused"],
    ["other arguments", run("tool", { args: ["serve", "-x"] }), "allowed"],
    ["another program", run("true"), "allowed"],
  ])("a denied command with %s", (_, entry, verdict) =>
    expectEverywhere(deny(rule), { ...tools, entry }, verdict),
  );
});
