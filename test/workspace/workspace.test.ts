import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Workspace, secretName } from "../../src/config.ts";
import { createHub, loadConfig } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";

describe("M29 a hub that remembers through its workspace", () => {
  it("saves its state in `store`, relative to the file that sets it", async () => {
    const servers = { mcpServers: { it: fakeStdio({}) }, store: "./kept/state.sqlite" };
    const box = createSandbox({ "home/.config/plugboard/config.json": servers });
    await using workspace = await Workspace.open(box.options);
    const config = await workspace.load();
    const hub = await createHub(config, await workspace.hubOptions(config));
    expect((await hub.tools()).length).toBeGreaterThan(0);
    await hub.close();
    expect(existsSync(box.path("home/.config/plugboard/kept/state.sqlite"))).toBe(true);
    const again = await createHub(config, await workspace.hubOptions(config));
    expect((await again.tools({ wait: false })).length).toBeGreaterThan(0);
    expect(again.status()[0]?.state).toBe("ready");
    await again.close();
  });

  it("is one line: a hub of what `loadConfig` returned has the snapshots, the vault and the records of the command line", async () => {
    const env = { SECRET_WORD: "from the environment" };
    const it = { ...fakeStdio({}), env: { WORD: "${secret:SECRET_WORD}" } };
    const box = createSandbox({ "home/.config/plugboard/config.json": { mcpServers: { it } } });
    const options = { ...box.options, env: { ...box.options.env, ...env } };
    {
      await using workspace = await Workspace.open(options);
      await (await workspace.vault()).set(secretName("SECRET_WORD"), "from the vault");
    }
    {
      await using hub = await createHub(await loadConfig(options));
      const { structuredContent } = await hub.callTool("it.process");
      expect(structuredContent).toMatchObject({ env: { WORD: "from the vault" } });
    }
    await using again = await createHub(await loadConfig(options));
    expect((await again.tools({ wait: false })).length).toBeGreaterThan(0);
    expect(again.status()[0]?.state).toBe("ready");
    await again.close();
    // A literal stays in memory.
    await using literal = await createHub({ servers: { it: fakeStdio({}) } });
    expect(await literal.tools({ wait: false })).toEqual([]);
  });

  it("says that Redis is not there yet, instead of forgetting silently", async () => {
    const box = createSandbox({ "home/.config/plugboard/config.json": { store: "redis://127.0.0.1:1" } });
    await using workspace = await Workspace.open(box.options);
    const config = await workspace.load();
    const opening = createHub(config, await workspace.hubOptions(config));
    await expect(opening).rejects.toMatchObject({
      code: "config-invalid",
      message: expect.stringContaining("Redis") as string,
    });
  });

  it("works if nothing can be written, with one warning", async () => {
    const box = createSandbox({
      "home/.config/plugboard/config.json": { mcpServers: { it: { command: "x" } } },
      blocked: "a file",
    });
    const warnings: string[] = [];
    const folders = { ...box.folders, state: box.path("blocked/state") };
    await using workspace = await Workspace.open({
      ...box.options,
      folders,
      onWarning: (message) => warnings.push(message),
    });
    expect((await workspace.load()).servers.size).toBe(1);
    expect((await workspace.store()).durable).toBe(false);
    const add = workspace.add("two", { command: "y" }, { scope: "user" });
    await expect(add).rejects.toMatchObject({ code: "store-unavailable", data: { reason: "unwritable" } });
    expect((await workspace.load()).servers.size).toBe(1);
    expect(warnings).toHaveLength(1);
  });
});
