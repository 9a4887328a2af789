import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { assertNoLoop, setLoopsAside } from "../../src/config.ts";
import { loadConfig } from "../../src/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";
const main = resolve("src/cli/main.ts");
const gateway = { port: 7420, hosts: ["tools.example"] };

/** Why each server is set aside; undefined if it is not. */
async function setAside(box: Sandbox, path?: string) {
  const config = await loadConfig({ ...box.options, path });
  const { servers } = setLoopsAside(config, { ...box.options, program: main, gateway });
  return (name: string) => {
    const status = servers.get(name)?.status;
    if (status?.kind !== "disabled") return undefined;
    return { reason: status.reason, message: status.message, hint: status.hint };
  };
}

const leadsBack = expect.stringContaining("leads back to this Plugboard") as string;
const loop = { reason: "loop", message: leadsBack, hint: expect.stringContaining("Remove it") as string };

describe("M80 an entry that leads back to Plugboard itself", () => {
  it.each([
    ["plugboard", ["serve", "--stdio"]],
    ["/usr/local/bin/plugboard", ["serve"]],
    ["npx", ["plugboard", "serve", "--stdio"]],
    ["npx", ["-y", "plugboard@latest", "serve", "--stdio"]],
    ["npm", ["exec", "plugboard", "--", "serve", "--stdio"]],
    ["node", [main, "serve", "--stdio"]],
    ["node", ["--no-warnings", "/opt/lib/node_modules/plugboard/dist/cli/main.js", "serve"]],
    ["sh", ["-c", "cd /tmp && exec npx plugboard serve --stdio"]],
    ["bash", ["-lc", "FOO=1; plugboard serve"]],
    ["env", ["A=1", "plugboard", "serve"]],
    ["${TOOL}", ["serve"]],
    ["npx", ["mcp-remote", "http://127.0.0.1:7420/mcp"]],
  ])("is set aside: %s %j", async (command, args) => {
    const box = createSandbox({ [user]: { mcpServers: { self: { command, args } } } });
    box.env = { ...box.env, TOOL: "plugboard" };
    expect((await setAside(box))("self")).toEqual(loop);
  });

  it("is set aside behind a link to the program", async () => {
    const box = createSandbox();
    const link = box.path("home/bin/tools");
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(main, link);
    box.write(user, { mcpServers: { self: { command: link, args: ["serve"] } } });
    expect((await setAside(box))("self")).toEqual(loop);
  });

  it.each([
    "http://127.0.0.1:7420/mcp",
    "http://localhost:7420/mcp/reading",
    "http://[::1]:7420/",
    "http://0.0.0.0:7420/mcp",
    "https://tools.example/mcp",
    "http://${GATEWAY:-localhost:7420}/mcp",
  ])("is set aside at this gateway's own address: %s", async (url) => {
    const box = createSandbox({ [user]: { mcpServers: { self: { url } } } });
    // Another configuration would not help here.
    const hint = expect.not.stringContaining("--config") as string;
    expect((await setAside(box))("self")).toEqual({ ...loop, hint });
  });

  it("is set aside if it names its own file, by --config or by the variable", async () => {
    const box = createSandbox();
    const file = box.write("home/one.json", {
      mcpServers: {
        option: { command: "plugboard", args: ["serve", "--config", "${HOME}/one.json"] },
        joined: { command: "plugboard", args: ["serve", "--config=${HOME}/one.json"] },
        variable: { command: "plugboard", args: ["serve"], env: { PLUGBOARD_CONFIG: "~/one.json" } },
      },
    });
    const why = await setAside(box, file);
    for (const name of ["option", "joined", "variable"]) expect(why(name)).toEqual(loop);
  });

  it("is set aside in a second file that leads back to the first", async () => {
    const box = createSandbox();
    const files = ["one", "two"].map((name) => box.path(`home/${name}.json`));
    const serve = (file?: string) => ({
      command: "npx",
      args: ["plugboard", "serve", "--config", String(file)],
    });
    box.write("home/one.json", { mcpServers: { two: serve(files[1]) } });
    box.write("home/two.json", { mcpServers: { one: serve(files[0]) } });
    expect((await setAside(box, files[0]))("two")).toBeUndefined();
    const { workspace, chain } = await chainOf(box, files[0]);
    await workspace.close();
    box.env = { ...box.env, PLUGBOARD_CHAIN: chain };
    expect((await setAside(box, files[1]))("one")).toEqual(loop);
  });

  it("is none if it is another program, another configuration, or another gateway", async () => {
    const box = createSandbox({
      [user]: {
        mcpServers: {
          docs: { command: "mkdocs", args: ["serve", "--root", "/srv/plugboard"] },
          list: { command: "plugboard", args: ["tools"] },
          other: { command: "plugboard", args: ["serve", "--config", "/srv/other.json"] },
          port: { url: "http://127.0.0.1:7421/mcp" },
          host: { url: "http://192.0.2.1:7420/mcp" },
          secret: { url: "${secret:WHERE}" },
        },
      },
    });
    const why = await setAside(box);
    for (const name of ["docs", "list", "other", "port", "host", "secret"]) expect(why(name)).toBeUndefined();
  });

  it("keeps the stronger reason of an entry that may not be used anyway", async () => {
    const box = createSandbox({
      "project/.mcp.json": { mcpServers: { theirs: { command: "plugboard", args: ["serve"] } } },
    });
    expect((await setAside(box))("theirs")).toMatchObject({ reason: "untrusted" });
  });
});

async function chainOf(box: Sandbox, path?: string) {
  const { Workspace } = await import("../../src/config.ts");
  const workspace = await Workspace.open({ ...box.options, path });
  return { workspace, chain: (await workspace.hubOptions(await workspace.load())).chain };
}

describe("M80 a Plugboard that one of its own servers starts", () => {
  it("notices it by what servers are told, whatever stands between", async () => {
    const box = createSandbox({ [user]: { mcpServers: { wrapped: { command: "./start.sh" } } } });
    const { workspace, chain } = await chainOf(box);
    const config = await workspace.load();
    assertNoLoop(config, box.env);
    const inside = { ...box.env, PLUGBOARD_CHAIN: chain };
    expect(() => assertNoLoop(config, inside)).toThrow(
      /already in use by the Plugboard that started this one/,
    );
    await workspace.close();
  });

  it("may be another configuration, but not without end", async () => {
    const box = createSandbox({ [user]: { mcpServers: {} } });
    const config = await loadConfig(box.options);
    const chain = (depth: number) => Array.from({ length: depth }, (_, at) => `mark${at}`).join(",");
    assertNoLoop(config, { PLUGBOARD_CHAIN: chain(7) });
    expect(() => assertNoLoop(config, { PLUGBOARD_CHAIN: chain(8) })).toThrow(/started by 8 others/);
  });
});
