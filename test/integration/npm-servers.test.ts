import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHub } from "../../src/index.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "plugboard-npm-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 20 }));
  return path;
}

/** Programs from npm that nobody here wrote, started as people start them. `npx` finds the installed ones. */
describe("M20 servers from npm, through npx", () => {
  it("everything: tools, resources, prompts, a call with progress", async () => {
    await using hub = await createHub({
      servers: { everything: { command: "npx", args: ["--offline", "mcp-server-everything"] } },
    });
    const tools = await hub.tools();
    expect(tools.length).toBeGreaterThan(5);
    const echo = tools.find(({ name }) => name === "echo");
    const result = await hub.callTool(echo?.id ?? "", { message: "hello" });
    expect(JSON.stringify(result.content)).toContain("hello");
    expect((await hub.resources()).length + (await hub.resourceTemplates()).length).toBeGreaterThan(0);
    expect((await hub.prompts()).length).toBeGreaterThan(0);
    await expect(hub.callTool("everything.echo", { message: 5 })).rejects.toMatchObject({
      code: "arguments-invalid",
    });
  });

  it("filesystem: reads what it may and refuses what it may not", async () => {
    const here = folder();
    writeFileSync(join(here, "note.txt"), "a note");
    await using hub = await createHub({
      servers: {
        files: {
          command: "npx",
          args: ["--offline", "mcp-server-filesystem", here],
          tools: { allow: ["read_*", "list_*"] },
        },
      },
    });
    const read = (path: string) => hub.callTool("files.read_text_file", { path });
    expect(JSON.stringify((await read(join(here, "note.txt"))).content)).toContain("a note");
    expect(await read("/etc/passwd")).toMatchObject({ isError: true });
    await expect(
      hub.callTool("files.write_file", { path: join(here, "x"), content: "" }),
    ).rejects.toMatchObject({ code: "tool-hidden" });
  });

  it("memory: keeps what it was told until it is asked", async () => {
    const env = { MEMORY_FILE_PATH: join(folder(), "memory.json") };
    await using hub = await createHub({
      servers: { memory: { command: "npx", args: ["--offline", "mcp-server-memory"], env } },
    });
    await hub.callTool("memory.create_entities", {
      entities: [{ name: "Ada", entityType: "person", observations: ["wrote programs"] }],
    });
    expect(JSON.stringify(await hub.callTool("memory.read_graph"))).toContain("wrote programs");
  });
});
