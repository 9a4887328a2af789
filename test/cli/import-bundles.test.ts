import { describe, expect, it } from "vitest";
import { Workspace } from "../../src/config.ts";
import type { ServerEntry } from "../../src/config.ts";
import { createSandbox } from "../sandbox.ts";

const file = {
  servers: {
    web: { trust: "untrusted", transport: { type: "stdio", command: "web-mcp" } },
    "my repo": { trust: "trusted", transport: { type: "http", url: "https://repo.example/mcp" } },
  },
  bundles: {
    reading: { serverId: "web", mode: "direct", allowTools: ["fetch"] },
    repo: { serverId: "my repo", allowTools: ["read_*"], denyTools: ["read_secret"] },
    lost: { serverId: "gone", allowTools: ["x"] },
  },
};

describe("M10 importing a file with servers and bundles", () => {
  it("brings the bundles, so that an untrusted server whose allow list is there can be used", async () => {
    const box = createSandbox({ "home/project/codex-toolloop.mcp.json": file });
    const run = await box.cli(["import", "toolloop", "--yes", "--scope", "user"]);
    expect(run.out).toContain("Added 2 servers and 2 bundles.");
    expect(run.out).toMatch(/add +reading +web: allow fetch/);
    expect(run.out).toMatch(/skip +lost .*its server "gone" is not imported/);
    expect((await box.cli(["list"])).out).toMatch(/web +ready/);
    const written = JSON.parse(box.read("home/.config/plugboard/config.json")) as { bundles: object };
    expect(written.bundles).toEqual({
      reading: { servers: ["web"], mode: "direct", tools: { allow: ["fetch"] } },
      repo: { servers: ["my-repo"], tools: { allow: ["read_*"], deny: ["read_secret"] } },
    });
    const again = await box.cli(["import", "toolloop", "--yes", "--json", "--scope", "user"]);
    const bundles = again.json["bundles"] as { name: string; action: string }[];
    expect(bundles.map(({ name, action }) => `${name} ${action}`)).toEqual([
      "reading same",
      "repo same",
      "lost skip",
    ]);
  });

  it("leaves a project's bundles to trust, and shows them in a dry run without writing", async () => {
    const box = createSandbox({ "home/project/codex-toolloop.mcp.json": file });
    const dry = await box.cli(["import", "--dry-run"]);
    expect(dry.out).toContain("Would add 2 servers and 2 bundles.");
    await box.cli(["import", "--yes"]);
    expect((await box.cli(["list"])).out).toMatch(/web +untrusted/);
    const waiting = await box.cli(["trust", "--list", "--json"]);
    expect(waiting.json).toMatchObject({ servers: [{ name: "web" }, { name: "my-repo" }], settings: [{}] });
    expect((await box.cli(["trust", "--yes"])).code).toBe(0);
    expect((await box.cli(["list"])).out).toMatch(/web +ready/);
    expect((await box.cli(["trust", "--list"])).out).toMatch(/^Nothing here needs your trust\./);
  });

  it("asks for a server and the bundle with its allow list when only the server is named", async () => {
    const box = createSandbox({ "home/project/codex-toolloop.mcp.json": file });
    await box.cli(["import", "--yes"]);
    const run = await box.cli(["trust", "web", "--yes"]);
    expect(run).toMatchObject({ code: 0 });
    expect(run.out).toMatch(/Trusted web, the settings of /);
    expect((await box.cli(["list"])).out).toMatch(/web +ready/);
  });

  it("keeps a trusted server disabled while the bundle with its allow list is not trusted", async () => {
    const box = createSandbox({ "home/project/codex-toolloop.mcp.json": file });
    await box.cli(["import", "--yes"]);
    const workspace = await Workspace.open(box.options);
    const entry = async () => (await workspace.load()).servers.get("web");
    await workspace.trust((await entry()) as ServerEntry);
    expect((await entry())?.status).toMatchObject({
      kind: "disabled",
      reason: "untrusted",
      message: "its allow list is in a bundle of this project that is not trusted yet",
    });
    await workspace.close();
  });

  it("refuses an untrusted server whose only allow list is in a bundle that another one replaces", async () => {
    const box = createSandbox({
      "home/.config/plugboard/config.json": {
        mcpServers: { web: { command: "web-mcp", untrusted: true } },
        bundles: { reading: { servers: ["web"], tools: { allow: ["fetch"] } } },
      },
      "home/project/plugboard.json": { bundles: { reading: { servers: ["web"] } } },
    });
    expect((await box.cli(["list"])).out).toMatch(/web +ready/);
    await box.cli(["trust", "--yes"]);
    expect((await box.cli(["list"])).out).not.toMatch(/web +ready/);
  });

  it("never replaces a bundle of yours", async () => {
    const own = { bundles: { reading: { servers: ["other"] } } };
    const box = createSandbox({
      "home/project/codex-toolloop.mcp.json": file,
      "home/.config/plugboard/config.json": own,
    });
    const run = await box.cli(["import", "toolloop", "--yes", "--scope", "user"]);
    expect(run.out).toMatch(/keep +reading/);
    expect(JSON.parse(box.read("home/.config/plugboard/config.json"))).toMatchObject(own);
  });
});
