import { mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Workspace } from "../../src/config.ts";
import { add, browser, hubAt, openScene } from "../auth/oauth-fixture.ts";
import { createSandbox } from "../sandbox.ts";

const noLock = {
  code: "store-unavailable",
  message: expect.stringMatching(/state\.sqlite cannot be written to.*nothing was changed/),
  hint: expect.stringContaining("XDG_STATE_HOME"),
  data: { reason: "unwritable" },
};

describe("M72 M05 while the lock store cannot be used, but its folder can be written", () => {
  it("secrets, servers and trust are not changed, and say why; they are as soon as it works again", async () => {
    const { box, workspace, repair } = await brokenWorkspace();
    const vault = await workspace.vault();
    const before = readFileSync(vault.path, "utf8");
    const entry = workspace.require(await workspace.load(), "theirs");
    const changes: Record<string, () => Promise<unknown>> = {
      set: () => vault.set("secret/NEW", "v"),
      replace: () => vault.set("secret/FIRST", "w"),
      check: () => vault.assertReplaceable("secret/FIRST"),
      add: () => workspace.add("two", { command: "y" }, { scope: "user" }),
      disable: () => workspace.setEnabled("one", false),
      remove: () => workspace.remove("one"),
    };
    for (const change of Object.values(changes)) await expect(change()).rejects.toMatchObject(noLock);
    await expect(workspace.trust(entry)).rejects.toMatchObject({ code: "store-unavailable" });
    await expect(workspace.distrust(entry)).rejects.toMatchObject({ code: "store-unavailable" });
    await expect(vault.delete("secret/FIRST")).rejects.toMatchObject(noLock);
    expect(readFileSync(vault.path, "utf8")).toBe(before);
    expect((await vault.list("")).entries.map(({ name }) => name)).toEqual(["secret/FIRST"]);
    expect(Object.keys(JSON.parse(box.read(userFile)).mcpServers)).toEqual(["one"]);
    repair();
    for (const change of Object.values(changes)) await change();
    await workspace.trust(entry);
    const { servers } = await workspace.load();
    expect([...servers].map(([name, { status }]) => [name, status.kind])).toEqual([
      ["theirs", "ready"],
      ["two", "ready"],
    ]);
    expect((await vault.list("")).entries.map(({ place }) => place)).toEqual(["file", "file"]);
  });

  it("nobody is sent to a browser for a login that could not be stored", async () => {
    const { workspace, repair } = await brokenWorkspace();
    const { auth, server } = await openScene();
    const hub = await hubAt(server.url, {}, { credentials: workspace.credentials });
    const opened: URL[] = [];
    await expect(hub.login("issues", browser(opened))).rejects.toMatchObject({ ...noLock, server: "issues" });
    expect([opened, auth.stats.authorizations]).toEqual([[], 0]);
    repair();
    await hub.login("issues", browser(opened));
    expect(opened).toHaveLength(1);
  });

  it("a machine's login goes on in this process, once for many calls, and is not in the vault", async () => {
    const { workspace, warnings } = await brokenWorkspace();
    const client = { client_id: "robot", client_secret: "s3cret", grants: ["client_credentials"] };
    const { auth, server } = await openScene({ clients: [client] });
    const oauth = { grant: "client-credentials", clientId: "robot", clientSecret: "s3cret" };
    const hub = await hubAt(server.url, { oauth }, { credentials: workspace.credentials });
    expect(await Promise.all([add(hub), add(hub), add(hub)])).toEqual([1, 2, 3].map(() => ({ sum: 3 })));
    expect(await add(hub)).toEqual({ sum: 3 });
    const asked = auth.received.filter(({ endpoint }) => endpoint === "token");
    expect(asked).toHaveLength(1);
    const { entries } = await (await workspace.vault()).list("tokens/");
    expect(entries.map(({ place }) => place)).toEqual(["memory"]);
    expect(warnings.join()).toContain("lost when this process ends");
  });
});

describe("M73 a login that only this process has", () => {
  it("is this process's own only until another one stores a newer one", async () => {
    const { box, workspace, repair } = await brokenWorkspace();
    const vault = await workspace.vault();
    expect(await vault.set("tokens/x", "machine's", { orHere: true })).toBe("memory");
    expect(await vault.assertReplaceable("tokens/x")).toBe("memory");
    repair();
    await using other = await Workspace.open(box.options);
    await vi.waitFor(async () => {
      await (await other.vault()).set("tokens/x", "newer");
      expect(await vault.get("tokens/x")).toBe("newer");
    });
    expect(await vault.assertReplaceable("tokens/x")).toBe("vault");
  });
});

describe("M72 where the state folder itself cannot be written", () => {
  it("a login and its renewal live in this process, and a secret is never called stored", async () => {
    const box = createSandbox({ blocked: "a file" });
    const folders = { ...box.folders, state: box.path("blocked/state") };
    const warnings: string[] = [];
    const onWarning = (message: string) => warnings.push(message);
    await using workspace = await Workspace.open({ ...box.options, folders, onWarning });
    expect(await (await workspace.vault()).set("secret/A", "v")).toBe("memory");
    const { auth, server } = await openScene();
    const hub = await hubAt(server.url, {}, { credentials: workspace.credentials });
    await hub.login("issues", browser());
    auth.expireAccessTokens();
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(auth.stats).toMatchObject({ authorizations: 1, refreshes: 1 });
    expect(warnings).toHaveLength(1);
  });
});

const userFile = "home/.config/plugboard/config.json";

/** A workspace with a secret and two servers whose state file broke afterwards. */
async function brokenWorkspace() {
  const box = createSandbox({
    [userFile]: { mcpServers: { one: { command: "x" } } },
    "project/.mcp.json": { mcpServers: { theirs: { command: "y" } } },
  });
  await box.cli(["secret", "set", "FIRST", "-"], { input: "first" });
  // SQLite cannot open its side file then, for root either.
  const side = join(box.folders.state, "state.sqlite-wal");
  mkdirSync(side);
  const warnings: string[] = [];
  const onWarning = (message: string) => warnings.push(message);
  const workspace = await Workspace.open({ ...box.options, onWarning });
  onTestFinished(() => workspace.close());
  return { box, workspace, warnings, repair: () => rmdirSync(side) };
}
