import { chmodSync, existsSync, lstatSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Workspace } from "../../src/config.ts";
import { rewriteFile } from "../../src/config/edit.ts";
import type { Lock } from "../../src/config/edit.ts";
import { createSandbox } from "../sandbox.ts";

/** Nobody else knows these files. */
const aloneHere: Lock = (_, work) => work({ signal: new AbortController().signal });

const commented = `{
  // mine
  "mcpServers": {
    "a": { "command": "a" }, // first
    /* second */
    "b": {
      "command": "b", // keep me
      "x-unknown": [1,2]
    }
  },
  "output": { "maxTokens": 7 }
}
`;

describe("M05 editing a file", () => {
  it("does not replace a link whose file does not exist", async () => {
    const box = createSandbox({ "home/.config/plugboard/keep": "" });
    const link = box.path("home/.config/plugboard/config.json");
    symlinkSync(box.path("dotfiles/plugboard.json"), link);
    const run = await box.cli(["add", "a", "-s", "user", "--", "x"]);
    expect(run).toMatchObject({
      code: 3,
      err: expect.stringContaining("symbolic link to a file that does not exist"),
    });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });

  it("loses nothing that another program writes meanwhile", async () => {
    const box = createSandbox();
    const editing = { newFileMode: 0o600, lock: aloneHere };
    for (const before of ['{"count":1}', undefined]) {
      for (const isLast of [false, true]) {
        const file = box.path("client.json");
        rmSync(file, { force: true });
        if (before !== undefined) writeFileSync(file, before);
        const seen: unknown[] = [];
        await rewriteFile(file, editing, async ({ value }) => {
          seen.push(value["count"]);
          if (seen.length === 1) writeFileSync(file, '{"count":2}');
          return isLast ? null : JSON.stringify({ ...value, ours: true });
        });
        expect(seen).toEqual([before === undefined ? undefined : 1, 2]);
        if (isLast) expect(existsSync(file)).toBe(false);
        else expect(JSON.parse(box.read("client.json"))).toEqual({ count: 2, ours: true });
      }
    }
  });

  it("gives up on a file that another program writes all the time", async () => {
    const box = createSandbox({ "client.json": '{"count":1}' });
    const file = box.path("client.json");
    let count = 1;
    const writing = rewriteFile(file, { newFileMode: 0o600, lock: aloneHere }, async () => {
      writeFileSync(file, JSON.stringify({ count: ++count }));
      return '{"ours":true}';
    });
    await expect(writing).rejects.toThrow("written by another program all the time");
    expect(JSON.parse(box.read("client.json"))).toEqual({ count });
  });

  it("keeps comments, order, layout, mode and links", async () => {
    const box = createSandbox({ "dotfiles/plugboard.jsonc": commented });
    const target = box.path("dotfiles/plugboard.jsonc");
    chmodSync(target, 0o640);
    box.write("home/.config/plugboard/keep", "");
    symlinkSync(target, box.path("home/.config/plugboard/config.jsonc"));
    await using workspace = await Workspace.open(box.options);
    await workspace.add("c", { command: "c", args: ["1"] }, { scope: "user" });
    await workspace.setEnabled("b", false);
    await workspace.remove("a");
    expect(box.read("dotfiles/plugboard.jsonc")).toBe(`{
  // mine
  "mcpServers": {
    /* second */
    "b": {
      "command": "b", // keep me
      "x-unknown": [1,2],
      "enabled": false
    },
    "c": {
      "command": "c",
      "args": ["1"]
    }
  },
  "output": { "maxTokens": 7 }
}
`);
    expect(statSync(target).mode & 0o777).toBe(0o640);
    expect(lstatSync(box.path("home/.config/plugboard/config.jsonc")).isSymbolicLink()).toBe(true);
    await workspace.setEnabled("b", true);
    expect(box.read("dotfiles/plugboard.jsonc")).not.toContain("enabled");
  });

  it.each(["toml", "yaml", "json"])("removes the last server of a %s file", async (extension) => {
    const box = createSandbox();
    box.write(`home/.config/plugboard/config.${extension}`, "");
    await using workspace = await Workspace.open(box.options);
    await workspace.add("a", { command: "a", env: { A: "1" } }, { scope: "user" });
    await workspace.remove("a");
    expect((await workspace.load()).servers.size).toBe(0);
  });

  it("makes project files readable for everyone and the user's own files private", async () => {
    const box = createSandbox();
    await using workspace = await Workspace.open(box.options);
    await workspace.add("a", { command: "a" }, { scope: "project" });
    await workspace.add("b", { command: "b" }, { scope: "user" });
    expect(statSync(box.path("project/.mcp.json")).mode & 0o777).toBe(0o644);
    expect(statSync(box.path("home/.config/plugboard/config.json")).mode & 0o777).toBe(0o600);
  });

  it("keeps Windows line endings", async () => {
    const box = createSandbox({ "project/.mcp.json": commented.replaceAll("\n", "\r\n") });
    await using workspace = await Workspace.open(box.options);
    await workspace.add("c", { command: "c" }, { scope: "project" });
    expect(box.read("project/.mcp.json").replaceAll("\r\n", "")).not.toContain("\n");
  });

  it("refuses to edit a broken file and leaves it unchanged", async () => {
    const box = createSandbox({ "home/.config/plugboard/config.json": "{ broken" });
    await using workspace = await Workspace.open(box.options);
    await expect(workspace.add("a", { command: "a" }, { scope: "user" })).rejects.toMatchObject({
      code: "config-unreadable",
      message: expect.stringContaining("config.json:1:3"),
    });
    expect(box.read("home/.config/plugboard/config.json")).toBe("{ broken");
  });

  it.each([
    ["a name with a slash", "../evil", { command: "a" }, "usage-invalid"],
    ["an option as a name", "-rf", { command: "a" }, "usage-invalid"],
    ["an entry with a mistake", "a", { comand: "a" }, "config-invalid"],
  ])("refuses %s", async (_, name, written, code) => {
    const box = createSandbox();
    await using workspace = await Workspace.open(box.options);
    await expect(workspace.add(name, written, { scope: "user" })).rejects.toMatchObject({ code });
  });

  it("writes to the existing file, whatever its syntax", async () => {
    const box = createSandbox({
      "project/plugboard.toml": "# ours\n",
      "home/.config/plugboard/config.yaml": "# mine\n",
    });
    await using workspace = await Workspace.open(box.options);
    await workspace.add("a", { command: "a", env: { K: "v" } }, { scope: "project" });
    await workspace.add("b", { url: "https://b.example" }, { scope: "user" });
    expect(box.read("project/plugboard.toml")).toBe(
      '# ours\n\n[mcpServers.a]\ncommand = "a"\n\n[mcpServers.a.env]\nK = "v"\n',
    );
    expect(box.read("home/.config/plugboard/config.yaml")).toBe(
      "# mine\nmcpServers:\n  b:\n    url: https://b.example\n",
    );
  });

  it("trusts what a person adds to the project, and nothing else in that file", async () => {
    const box = createSandbox({ "project/.mcp.json": { mcpServers: { theirs: { command: "x" } } } });
    await using workspace = await Workspace.open(box.options);
    await workspace.add("mine", { command: "y" }, { scope: "project" });
    const { servers } = await workspace.load();
    expect([servers.get("mine")?.status.kind, servers.get("theirs")?.status.kind]).toEqual([
      "ready",
      "disabled",
    ]);
  });

  it("refuses to add under an exclusive policy, and says so", async () => {
    const box = createSandbox({ "managed/managed.json": { mcpServers: {} } });
    await using workspace = await Workspace.open(box.options);
    await expect(workspace.add("a", { command: "a" }, { scope: "local" })).rejects.toMatchObject({
      code: "policy-denied",
    });
  });
});
