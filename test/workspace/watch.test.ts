import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { Workspace, watchConfig } from "../../src/config.ts";
import type { LoadedConfig } from "../../src/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";
const one = { mcpServers: { one: { command: "a" } } };
const two = { mcpServers: { one: { command: "a" }, two: { command: "b" } } };

/** News in the order of arrival, to be awaited one by one. */
class News<T> {
  readonly #waiting: ((value: T) => void)[] = [];
  readonly #queue: T[] = [];

  push = (value: T): void => {
    const next = this.#waiting.shift();
    if (next) next(value);
    else this.#queue.push(value);
  };

  next(): Promise<T> {
    if (this.#queue.length > 0) return Promise.resolve(this.#queue.shift() as T);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  get unread(): number {
    return this.#queue.length;
  }
}

async function watching(box: Sandbox, options: { path?: string } = {}) {
  const workspace = await Workspace.open({ ...box.options, ...options });
  const changes = new News<LoadedConfig>();
  const problems = new News<string | undefined>();
  const watch = await watchConfig(workspace, { onChange: changes.push, onProblem: problems.push });
  onTestFinished(async () => {
    await watch.close();
    await workspace.close();
  });
  return {
    workspace,
    watch,
    changes,
    problems,
    names: async () => [...(await changes.next()).servers.keys()],
  };
}

describe("M09 watching the configuration", () => {
  it("reports a file that is written in place, and one that is renamed into place", async () => {
    const box = createSandbox({ [user]: one });
    const { names } = await watching(box);
    box.write(user, two);
    expect(await names()).toEqual(["one", "two"]);
    for (const config of [one, two, one]) {
      renameSync(box.write("home/.config/plugboard/.new", config), box.path(user));
      expect(await names()).toEqual(Object.keys(config.mcpServers));
    }
  });

  it("notices a file in a new folder, and its deletion", async () => {
    const box = createSandbox();
    const { names } = await watching(box);
    box.write(user, one);
    expect(await names()).toEqual(["one"]);
    box.write(user, two);
    expect(await names()).toEqual(["one", "two"]);
    rmSync(box.path("home/.config"), { recursive: true });
    expect(await names()).toEqual([]);
    box.write(user, one);
    expect(await names()).toEqual(["one"]);
  });

  it("follows a link to the file it points at", async () => {
    const box = createSandbox({ "home/dotfiles/plugboard.json": one });
    mkdirSync(box.path("home/.config/plugboard"), { recursive: true });
    symlinkSync(box.path("home/dotfiles/plugboard.json"), box.path(user));
    const { names } = await watching(box);
    renameSync(box.write("home/dotfiles/.new", two), box.path("home/dotfiles/plugboard.json"));
    expect(await names()).toEqual(["one", "two"]);
  });

  it("keeps the old configuration while a file is half written, and says where it breaks", async () => {
    const box = createSandbox({ [user]: two });
    const { names, problems, changes } = await watching(box);
    const whole = JSON.stringify(one, null, 2);
    box.write(user, whole.slice(0, -8));
    expect(await problems.next()).toMatch(/config\.json:\d+: /);
    expect(changes.unread).toBe(0);
    box.write(user, whole);
    expect(await names()).toEqual(["one"]);
    expect(await problems.next()).toBeUndefined();
  });

  it("waits before it accepts that a file is empty or missing", async () => {
    const box = createSandbox({ [user]: one });
    const { names } = await watching(box);
    writeFileSync(box.path(user), "");
    rmSync(box.path(user));
    box.write(user, two);
    expect(await names()).toEqual(["one", "two"]);
  });

  it("keeps the configuration if a named file is deleted, and says so", async () => {
    const box = createSandbox({ "team.json": one });
    const { problems, names } = await watching(box, { path: box.path("team.json") });
    rmSync(box.path("team.json"));
    expect(await problems.next()).toContain("File not found");
    box.write("team.json", two);
    expect(await names()).toEqual(["one", "two"]);
  });

  it("does not report changes without effect, or a mistake that existed before", async () => {
    const box = createSandbox({ [user]: one, "project/.mcp.json": "{ broken" });
    const { names, problems, changes } = await watching(box);
    box.write(user, `\n\n// moved\n${JSON.stringify(one)}`);
    box.write("project/plugboard.json", { mcpServers: {} });
    box.write(user, two);
    expect(await names()).toEqual(["one", "two"]);
    expect(changes.unread + problems.unread).toBe(0);
  });

  it("loads a project's new entries as untrusted", async () => {
    const box = createSandbox({ [user]: one });
    const { changes } = await watching(box);
    box.write("project/.mcp.json", { mcpServers: { evil: { command: "rm" } } });
    const entry = (await changes.next()).servers.get("evil");
    expect(entry?.status).toMatchObject({ kind: "disabled", reason: "untrusted" });
  });

  it("notices that trust in a server, and in a project's settings, is given and taken back elsewhere", async () => {
    const box = createSandbox({
      "project/.mcp.json": { mcpServers: { theirs: { command: "a" } } },
      "project/plugboard.json": { approval: "prompt" },
    });
    const { changes } = await watching(box);
    const next = async () => {
      const { servers, settings } = await changes.next();
      return [servers.get("theirs")?.status.kind, settings.approval];
    };
    await box.cli(["trust", "theirs", "--yes"]);
    expect(await next()).toEqual(["ready", undefined]);
    await box.cli(["trust", "--yes"]);
    expect(await next()).toEqual(["ready", "prompt"]);
    await box.cli(["trust", "--revoke", "theirs"]);
    expect(await next()).toEqual(["disabled", "prompt"]);
  });

  it("applies a managed policy that is added later", async () => {
    const box = createSandbox({ [user]: one });
    const { changes } = await watching(box);
    box.write("managed/managed.json", { deniedMcpServers: [{ serverName: "one" }] });
    const entry = (await changes.next()).servers.get("one");
    expect(entry?.status).toMatchObject({ kind: "disabled", reason: "policy" });
  });

  it("reports what changed between loading and watching", async () => {
    const box = createSandbox({ [user]: one });
    const workspace = await Workspace.open(box.options);
    const current = await workspace.load();
    box.write(user, two);
    const changes = new News<LoadedConfig>();
    const watch = await watchConfig(workspace, { current, onChange: changes.push });
    expect([...(await changes.next()).servers.keys()]).toEqual(["one", "two"]);
    await watch.close();
  });

  it("stops watching and reporting when closed", async () => {
    const box = createSandbox({ [user]: one });
    const watchers = () => process.getActiveResourcesInfo().filter((name) => name === "FSEventWrap").length;
    await expect.poll(watchers).toBe(0);
    const { watch, changes } = await watching(box);
    expect(watchers()).toBeGreaterThan(0);
    box.write(user, two);
    await watch.close();
    await expect.poll(watchers).toBe(0);
    expect(changes.unread).toBeLessThanOrEqual(1);
  });

  it("M52 follows lock files: one that appears, changes, or is removed changes the rules", async () => {
    const box = createSandbox({ [user]: one });
    const lock = "home/.config/plugboard/plugboard.lock";
    const { changes } = await watching(box);
    const pinned = async () => (await changes.next()).pins?.get("one")?.broken;
    box.write(lock, "{");
    expect(await pinned()).toMatch(/^is not valid JSON/);
    box.write(lock, { lockVersion: 1, servers: {} });
    expect((await changes.next()).pins?.size).toBe(0);
    box.write(lock, { lockVersion: 3, servers: {} });
    expect(await pinned()).toBe("has the format version 3; this Plugboard reads version 1");
    rmSync(box.path(lock));
    expect((await changes.next()).pins?.size).toBe(0);
  });
});
