import { chmodSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Workspace, secretName } from "../../src/config.ts";
import { createHub, loadConfig } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

const it1 = { ...fakeStdio({}), env: { WORD: "${secret:WORD}" } };
const own = "home/.config/plugboard/config.json";

function sandbox(files: Record<string, string | object> = {}): Sandbox {
  const box = createSandbox({
    [own]: { mcpServers: { it: it1 }, secrets: { envFiles: ["tokens.env", "~/more.env"] } },
    "home/.config/plugboard/tokens.env": "WORD=from-the-file\n",
    "home/more.env": "WORD=from-the-second\nOTHER=also\n",
    ...files,
  });
  for (const name of ["home/.config/plugboard/tokens.env", "home/more.env"]) chmodSync(box.path(name), 0o600);
  return box;
}

describe("M03 secrets from a .env file", () => {
  it("are used after those of the vault and the environment, and read anew for every start", async () => {
    const box = sandbox();
    const word = async (env: Record<string, string> = {}) => {
      await using hub = await createHub(await loadConfig({ ...box.options, env: { ...box.env, ...env } }));
      const { structuredContent } = await hub.callTool("it.process");
      return (structuredContent as { env: Record<string, string> }).env["WORD"];
    };
    expect(await word()).toBe("from-the-file");
    box.write("home/.config/plugboard/tokens.env", "# moved\n");
    expect(await word()).toBe("from-the-second");
    expect(await word({ WORD: "from the environment" })).toBe("from the environment");
    await using workspace = await Workspace.open(box.options);
    await (await workspace.vault()).set(secretName("WORD"), "from the vault");
    expect(await word({ WORD: "from the environment" })).toBe("from the vault");
  });

  it("of a file that cannot be read are not looked up in the next one", async () => {
    const box = sandbox({ "home/.config/plugboard/tokens.env": "WORD=\0" });
    await using hub = await createHub(await loadConfig(box.options));
    const reason = `The secret WORD cannot be looked up, because ${box.path("home/.config/plugboard/tokens.env")} is not a text file`;
    await expect(hub.callTool("it.process")).rejects.toMatchObject({
      code: "value-missing",
      message: expect.stringContaining(reason),
    });
  });

  it("follow a running hub: a new file after a reload, a new value after a reconnect", async () => {
    const box = sandbox({ "home/new.env": "WORD=newest\n" });
    await using hub = await createHub(await loadConfig(box.options));
    const word = async () =>
      ((await hub.callTool("it.process")).structuredContent as { env: Record<string, string> }).env["WORD"];
    expect(await word()).toBe("from-the-file");
    box.write("home/.config/plugboard/tokens.env", "WORD=changed\n");
    await hub.reconnect();
    expect(await word()).toBe("changed");
    box.write(own, { mcpServers: { it: it1 }, secrets: { envFiles: ["~/new.env"] } });
    await hub.reload(await loadConfig(box.options));
    await hub.reconnect();
    expect(await word()).toBe("newest");
  });

  it("are never taken from a project's file: found, named by the project, or trusted", async () => {
    const named = { mcpServers: { it: it1 }, secrets: { envFiles: [".env"] } };
    const box = createSandbox({ "project/.env": "WORD=theirs\n", "project/plugboard.json": named });
    await box.cli(["trust", "--yes"]);
    const config = await loadConfig(box.options);
    expect(config.servers.get("it")?.status.kind).toBe("ready");
    expect(config.settings.secrets).toBeUndefined();
    expect(config.diagnostics).toMatchObject([
      { severity: "warning", path: "secrets", file: box.path("project/plugboard.json") },
    ]);
    await using hub = await createHub(config);
    await expect(hub.callTool("it.process")).rejects.toMatchObject({ code: "value-missing" });
  });

  it("are taken from a project's file that the user names, in the local scope relative to the project", async () => {
    const box = createSandbox({ "project/.env": "WORD=mine\n" });
    chmodSync(box.path("project/.env"), 0o600);
    await box.cli(["add", "it", "--scope", "local", "--", "x"]);
    const local = box.folders.state + `/projects/${encodeURIComponent(box.project)}.json`;
    box.write(local.slice(box.root.length + 1), { secrets: { envFiles: [".env"] } });
    const { settings, diagnostics } = await loadConfig(box.options);
    expect([settings.secrets, diagnostics]).toEqual([{ envFiles: [box.path("project/.env")] }, []]);
  });

  it("work for a configuration in code", async () => {
    const box = sandbox();
    const secrets = { envFiles: [box.path("home/more.env")] };
    await using hub = await createHub({ servers: { it: it1 }, secrets }, { env: box.env });
    expect((await hub.callTool("it.process")).structuredContent).toMatchObject({
      env: { WORD: "from-the-second" },
    });
  });

  it("are listed by name, and mistakes are told without values", async () => {
    const box = sandbox();
    chmodSync(box.path("home/more.env"), 0o644);
    box.write("home/.config/plugboard/tokens.env", "WORD='canary-value\nNEXT=canary-next\n");
    box.write(own, { secrets: { envFiles: ["tokens.env", "~/more.env", "~/gone.env"] } });
    const { diagnostics } = await loadConfig(box.options);
    expect(diagnostics.map(({ path, message, suggestion }) => [path, message, suggestion])).toEqual([
      [
        "secrets.envFiles[0]",
        `${box.path("home/.config/plugboard/tokens.env")}:1: the quote is not closed`,
        undefined,
      ],
      [
        "secrets.envFiles[1]",
        `${box.path("home/more.env")} is accessible to other users (mode 644)`,
        `run \`chmod 600 ${box.path("home/more.env")}\``,
      ],
      ["secrets.envFiles[2]", `${box.path("home/gone.env")} does not exist`, undefined],
    ]);
    const doctor = await box.cli(["doctor"]);
    expect(doctor.out).toContain("gone.env does not exist");
    const listed = await box.cli(["secret", "list", "--json"]);
    expect(listed.json["files"]).toEqual([
      { file: box.path("home/.config/plugboard/tokens.env"), names: ["NEXT"] },
      { file: box.path("home/more.env"), names: ["OTHER", "WORD"] },
      { file: box.path("home/gone.env"), names: [], problem: "does not exist" },
    ]);
    const words = await box.cli(["secret", "list"]);
    expect(words.out).toContain(`In ${box.path("home/more.env")}: OTHER, WORD`);
    expect(words.err).toContain(`${box.path("home/gone.env")} does not exist`);
    expect([doctor, listed, words].map(({ out, err }) => out + err).join()).not.toMatch(/canary|also/);
  });
});
