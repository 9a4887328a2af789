import { statSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { Workspace } from "../../src/config.ts";
import { createSandbox } from "../sandbox.ts";

const secret = "hunter2hunter2";
const changedSecret = "correcthorsebattery";

function project(entry: object, settings: object = {}) {
  return { mcpServers: { it: entry }, ...settings };
}

describe("M11 an entry that changed since it was trusted", () => {
  it("is called that in list, explain and status, with the fields that changed", async () => {
    const box = createSandbox({ "project/.mcp.json": project({ command: "one", args: ["a"] }) });
    expect((await box.cli(["list"])).out).toContain("it: this project's entry is not trusted yet.");
    await box.cli(["trust", "--yes"]);
    box.write("project/.mcp.json", project({ command: "two", args: ["a"] }));
    const words = "its entry changed since you trusted it (command)";
    for (const verb of ["list", "explain it", "status"])
      expect((await box.cli(verb.split(" "))).out).toContain(words);
  });

  it("is shown with the difference before it is trusted again", async () => {
    const before = { command: "srv", args: ["--dir", "notes"], env: { API_TOKEN: secret, MODE: "${MODE}" } };
    const box = createSandbox({ "project/.mcp.json": project(before) });
    await box.cli(["trust", "--yes"]);
    const env = { API_TOKEN: changedSecret, MODE: "${MODE}", EXTRA: "${EXTRA}" };
    box.write("project/.mcp.json", project({ ...before, args: ["--dir", "/"], env }));
    const { out } = await box.cli(["trust", "--list"]);
    expect(out).toContain(
      [
        "  again     its entry changed since you trusted it",
        "      args[1]",
        "        - notes",
        "        + /",
        "      env.API_TOKEN",
        "        - (hidden)",
        `        + ${changedSecret}`,
        "      env.EXTRA",
        "        + ${EXTRA}",
        "  program",
      ].join("\n"),
    );
    expect((await box.cli(["trust", "--list", "--json"])).json["servers"]).toMatchObject([
      {
        changes: [
          { path: "args[1]", before: "notes", after: "/" },
          { before: "(hidden)" },
          { after: "${EXTRA}" },
        ],
      },
    ]);
  });

  it("does not put its secrets into the state, which only the user can read", async () => {
    const box = createSandbox({
      "project/.mcp.json": project({ command: "srv", env: { API_TOKEN: secret } }),
    });
    await box.cli(["trust", "--yes"]);
    await using workspace = await Workspace.open(box.options);
    const folder = dirname(workspace.stateFile);
    expect(statSync(workspace.stateFile).mode & 0o777).toBe(0o600);
    for (const name of readdirSync(folder).filter((one) => one.startsWith("state.sqlite")))
      expect(readFileSync(join(folder, name)).includes(secret)).toBe(false);
  });

  it("is called changed without a difference if an earlier version recorded the trust", async () => {
    const box = createSandbox({ "project/.mcp.json": project({ command: "one" }) });
    await box.cli(["trust", "--yes"]);
    await using workspace = await Workspace.open(box.options);
    const store = await workspace.store();
    for (const { key, value } of await store.list("trust/")) {
      const { content: _, ...old } = value as Record<string, unknown>;
      await store.set(key, old);
    }
    expect((await box.cli(["list"])).out).toMatch(/it +ready/);
    box.write("project/.mcp.json", project({ command: "two" }));
    const { out } = await box.cli(["trust", "--list"]);
    expect(out).toContain(
      "again     its entry changed since you trusted it; what it was then is not recorded\n",
    );
  });

  it("is compared in its project's settings too", async () => {
    const box = createSandbox({ "project/.mcp.json": project({ command: "one" }, { approval: "prompt" }) });
    await box.cli(["trust", "--yes"]);
    box.write("project/.mcp.json", project({ command: "one" }, { approval: "approve" }));
    const { out } = await box.cli(["trust", "--list"]);
    expect(out).toContain(
      "again     they changed since you trusted them\n      approval\n        - prompt\n        + approve\n",
    );
  });
});
