import { describe, expect, it } from "vitest";
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
    expect((await box.cli(["list"])).out).not.toMatch(/web +ready/);
    expect((await box.cli(["trust", "--yes"])).code).toBe(0);
    expect((await box.cli(["trust", "--yes"])).code).toBe(0);
    expect((await box.cli(["list"])).out).toMatch(/web +ready/);
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
