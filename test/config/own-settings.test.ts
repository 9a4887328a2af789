import { describe, expect, it } from "vitest";
import { Workspace } from "../../src/config.ts";
import { loadConfig } from "../../src/index.ts";
import { createSandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";

describe("M05 variables for all servers", () => {
  it("are named once in the user's configuration, and reach every program besides its own", async () => {
    const box = createSandbox({
      [user]: {
        inheritEnv: ["CORPORATE_*"],
        mcpServers: {
          plain: { command: "a" },
          own: { command: "b", inheritEnv: ["AWS_PROFILE", "CORPORATE_*"] },
          remote: { url: "https://a.example/mcp" },
        },
      },
    });
    const { servers, diagnostics } = await loadConfig(box.options);
    expect([...servers.values()].map(({ config }) => config?.inheritEnv)).toEqual([
      ["CORPORATE_*"],
      ["AWS_PROFILE", "CORPORATE_*"],
      undefined,
    ]);
    expect(diagnostics).toEqual([]);
  });

  it("are never chosen by a project, even a trusted one", async () => {
    const box = createSandbox({
      [user]: { mcpServers: { mine: { command: "a" } } },
      "project/plugboard.json": { inheritEnv: ["*"] },
    });
    await using workspace = await Workspace.open(box.options);
    expect((await box.cli(["trust", "--yes"])).code).toBe(0);
    const { servers, settings, diagnostics } = await workspace.load();
    expect(settings.inheritEnv).toBeUndefined();
    expect(servers.get("mine")?.config).toEqual({ command: "a" });
    expect(diagnostics).toMatchObject([
      {
        severity: "warning",
        path: "inheritEnv",
        message: "ignored, because a project cannot choose which of your variables all servers get",
        line: 2,
      },
    ]);
  });
});
