import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { formatById, Workspace } from "../../src/config.ts";
import { createSandbox } from "../sandbox.ts";

describe("M10 writing a client's file", () => {
  it("refuses when the file changed after the difference was shown", async () => {
    const box = createSandbox({
      "home/.config/plugboard/config.json": { mcpServers: { db: { command: "uvx" } } },
      "home/.cursor/mcp.json": "{}",
    });
    await using workspace = await Workspace.open(box.options);
    const shown = await workspace.compareClient(formatById("cursor"), "user");
    const theirs = '{ "mcpServers": { "db": { "command": "other" } } }';
    writeFileSync(shown.file, theirs);
    await expect(workspace.updateClient(shown)).rejects.toMatchObject({ code: "config-unreadable" });
    expect(box.read("home/.cursor/mcp.json")).toBe(theirs);
  });

  it("is not lost when several write at once", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const mcpServers = Object.fromEntries(names.map((name) => [name, { command: name }]));
    const box = createSandbox({
      "home/.config/plugboard/config.json": { mcpServers },
      "home/.cursor/mcp.json": "{}",
    });
    await Promise.all(
      names.map(async (name) => {
        for (let isWritten = false; !isWritten;) {
          await using workspace = await Workspace.open(box.options);
          const shown = await workspace.compareClient(formatById("cursor"), "user", [name]);
          isWritten = await workspace.updateClient(shown).then(
            () => true,
            () => false,
          );
        }
      }),
    );
    const { mcpServers: written } = JSON.parse(box.read("home/.cursor/mcp.json")) as { mcpServers: object };
    expect(Object.keys(written).sort()).toEqual(names);
  });
});
