import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createSandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";
const two = { mcpServers: { notes: { command: "notes" }, mail: { command: "mail" } } };

function namesIn(text: string): string[] {
  return Object.keys((JSON.parse(text) as { mcpServers: object }).mcpServers);
}

describe("M10 import", () => {
  it.each([[[]], [["--json"]]])(
    "writes nothing without a terminal or --yes (%j), and says so",
    async (flags) => {
      const box = createSandbox({ "home/.cursor/mcp.json": two });
      const run = await box.cli(["import", ...flags]);
      expect(run.code).toBe(2);
      expect(run.out + run.err).toContain("Nothing was imported");
      expect(run.out + run.err).toContain("--yes");
      expect(existsSync(box.path(user))).toBe(false);
    },
  );

  it("writes nothing with --json in a terminal either", async () => {
    const box = createSandbox({ "home/.cursor/mcp.json": two });
    const run = await box.cli(["import", "--json"], { answers: [true] });
    expect(run.code).toBe(2);
    expect(existsSync(box.path(user))).toBe(false);
  });

  it("lets a person choose the servers", async () => {
    const box = createSandbox({ "home/.cursor/mcp.json": two });
    const run = await box.cli(["import"], { answers: [], forms: [["mail"]] });
    expect(run.asked).toEqual(["Which servers do you want to add? [notes|mail]"]);
    expect(run.out).toContain("Added 1 server.");
    expect(namesIn(box.read(user))).toEqual(["mail"]);
  });

  it("changes nothing if the person chooses none", async () => {
    const box = createSandbox({ "home/.cursor/mcp.json": two });
    const run = await box.cli(["import"], { answers: [], forms: [[]] });
    expect(run).toMatchObject({ code: 0 });
    expect(run.out).toContain("Nothing was changed.");
    expect(existsSync(box.path(user))).toBe(false);
  });

  it("imports only the servers that a script names", async () => {
    const box = createSandbox({ "home/.cursor/mcp.json": two });
    const wrong = await box.cli(["import", "--only", "nots", "--yes"]);
    expect(wrong.code).toBe(4);
    expect(wrong.err).toContain('Did you mean "notes"?');
    await box.cli(["import", "--only", "notes", "--yes"]);
    expect(namesIn(box.read(user))).toEqual(["notes"]);
  });

  it("says the second time that everything is already configured, also what it renamed or was switched off since", async () => {
    const box = createSandbox({
      "home/.cursor/mcp.json": two,
      "home/.codex/config.toml": '[mcp_servers.notes]\ncommand = "other"\n',
    });
    await box.cli(["import", "--yes"]);
    await box.cli(["disable", "mail"]);
    const before = box.read(user);
    expect(namesIn(before).toSorted()).toEqual(["mail", "notes", "notes-cursor"].toSorted());
    const again = await box.cli(["import"]);
    expect(again).toMatchObject({ code: 0, err: "" });
    expect(again.out).toContain("Nothing to import: everything that was found is already configured.\n");
    expect(again.out).not.toContain("another server with this name");
    expect(box.read(user)).toBe(before);
  });

  it("keeps a server on that is switched off for one project only, and off in that project", async () => {
    const box = createSandbox();
    box.write("home/.claude.json", {
      mcpServers: { issues: { command: "issues" }, files: { command: "files" } },
      projects: { [box.project]: { disabledMcpServers: ["issues"] } },
    });
    const run = await box.cli(["import", "claude-code", "--yes"]);
    expect(run.out).toContain("Added 2 servers.");
    expect((await box.cli(["list"])).out).toMatch(/^issues +off +stdio +local/m);
    const elsewhere = createSandbox({ [user]: box.read(user) });
    expect((await elsewhere.cli(["list"])).out).toMatch(/^issues +ready +stdio +user/m);
    expect((await box.cli(["import", "claude-code"])).out).toContain("Nothing to import");
  });
});
