import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Workspace } from "../../src/config.ts";
import { createHub } from "../../src/index.ts";
import type { PlugboardEvent } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";
import { filesWith } from "./vault-fixture.ts";

const canary = "canary-7f3a-secret";

describe("M03 plugboard secret", () => {
  it("stores a value from standard input, lists its name, and removes it", async () => {
    const box = createSandbox();
    const set = await box.cli(["secret", "set", "TOKEN", "-"], { input: `${canary}\n` });
    expect(set).toMatchObject({ code: 0, err: "" });
    expect(set.out).toContain("Saved TOKEN in the encrypted vault");
    expect(set.out).toContain("vault.key");
    const list = await box.cli(["secret", "list", "--json"]);
    expect(list.json).toMatchObject({ secrets: [{ name: "TOKEN", key: "file" }], unreadable: [] });
    expect((await box.cli(["secret", "list"])).out).toMatch(/TOKEN {2}\d{4}-\d\d-\d\d/);
    expect((await box.cli(["secret", "remove", "TOKEN", "--json"])).json).toEqual({ removed: "TOKEN" });
    expect((await box.cli(["secret", "remove", "TOKEN"])).code).toBe(3);
    expect((await box.cli(["secret", "list"])).out).toContain("No secrets are stored");
    expect(filesWith(box.root, [canary])).toEqual([]);
  });

  it("asks without echoing the input, and accepts a variable's value", async () => {
    const box = createSandbox();
    const typed = await box.cli(["secret", "set", "TYPED"], { forms: [canary] });
    expect([typed.code, typed.asked]).toEqual([0, ["Value of TYPED (not shown)"]]);
    box.env["OTHER"] = canary;
    expect((await box.cli(["secret", "set", "TAKEN", "--from-env", "OTHER"])).code).toBe(0);
    await using workspace = await Workspace.open(box.options);
    expect([await workspace.secrets("TYPED"), await workspace.secrets("TAKEN")]).toEqual([canary, canary]);
  });

  it.each([
    [["set", "TOKEN", canary]],
    [["set", "TOKEN", `--${canary}`]],
    [["set", "TOKEN", "-", canary]],
    [["set", `TOKEN=${canary}`]],
    [["set", `TOKEN ${canary}`, "-"]],
    [["set", "TOKEN"]],
    [["set", "TOKEN", "--from-env", "NOT_SET"]],
  ])("refuses %j without repeating it, and keeps nothing", async (args) => {
    const box = createSandbox();
    for (const extra of [[], ["--json"]]) {
      const { code, out, err } = await box.cli(["secret", ...args, ...extra], { input: "" });
      expect(code).toBe(2);
      expect(out + err).not.toContain(canary);
    }
    expect((await box.cli(["secret", "list", "--json"])).json).toMatchObject({ secrets: [] });
  });

  it("fails if the value cannot be stored, instead of reporting success", async () => {
    const box = createSandbox({ blocked: "a file" });
    box.folders.state = box.path("blocked/state");
    const { code, out, err } = await box.cli(["secret", "set", "TOKEN", "-"], { input: canary });
    expect([code, out]).toEqual([5, ""]);
    expect(err).toContain("Could not save the secret");
    expect(err).not.toContain(canary);
  });
});

describe("M03 ${secret:NAME} through a hub", () => {
  const config = { mcpServers: { it: { ...fakeStdio({}), env: { TOKEN: "${secret:TOKEN}" } } } };

  it("comes from the vault, or else from the variable, and is never shown", async () => {
    const box = createSandbox({ "home/.config/plugboard/config.json": config });
    await using workspace = await Workspace.open(box.options);
    expect(await workspace.secrets("TOKEN")).toBeUndefined();
    box.env["TOKEN"] = "from the variable";
    expect(await workspace.secrets("TOKEN")).toBe("from the variable");
    await box.cli(["secret", "set", "TOKEN", "-"], { input: canary });
    expect(await workspace.secrets("TOKEN")).toBe(canary);

    const loaded = await workspace.load();
    const hub = await createHub(loaded, await workspace.hubOptions(loaded));
    const events: PlugboardEvent[] = [];
    hub.on("connection-changed", (event) => events.push(event));
    hub.on("server-log", (event) => events.push(event));
    await hub.tools();
    const said = [JSON.stringify(hub.status())];
    await hub.close();
    said.push(JSON.stringify(events));
    for (const args of [
      ["status"],
      ["status", "--json"],
      ["get", "it"],
      ["config", "show"],
      ["explain", "it"],
    ]) {
      const { out, err } = await box.cli(args);
      said.push(out, err);
    }
    expect(events.length).toBeGreaterThan(0);
    expect(said.filter((text) => text.includes(canary))).toEqual([]);
    expect(filesWith(box.root, [canary])).toEqual([]);
  });

  it("is an error for that server if the vault is not safe, and the variable is not used instead", async () => {
    const box = createSandbox({ "home/.config/plugboard/config.json": config });
    await box.cli(["secret", "set", "TOKEN", "-"], { input: canary });
    chmodSync(join(box.folders.state, "vault", "vault.json"), 0o644);
    box.env["TOKEN"] = "another account";
    const { json } = await box.cli(["status", "--json"]);
    expect(JSON.stringify(json)).toContain("is accessible to other users");
    expect(JSON.stringify(json)).not.toContain(canary);
  });
});
