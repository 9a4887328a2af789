import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runNode } from "../run-command.ts";
import { createSandbox } from "../sandbox.ts";

const program = fileURLToPath(new URL("programs/edit-loop.ts", import.meta.url));

describe("M05 twenty processes editing one file", () => {
  it("lose nothing, keep the comments, and never leave a file that does not parse", async () => {
    const box = createSandbox({
      "home/.config/plugboard/config.json":
        '{\n  // ours\n  "mcpServers": { "first": { "command": "x" } } // end\n}\n',
    });
    const file = box.path("home/.config/plugboard/config.json");
    const done = new AbortController();
    const reader = (async () => {
      let reads = 0;
      for (; !done.signal.aborted; reads++) {
        const text = readFileSync(file, "utf8");
        expect(text).toContain("// ours");
        expect(text.trimEnd().endsWith("}")).toBe(true);
        await new Promise((resolve) => setImmediate(resolve));
      }
      return reads;
    })();
    const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
    const env = { ...box.env, NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "" };
    const runs = await Promise.all(
      names.map((name) => runNode([program, name, "4"], { cwd: box.project, env })),
    );
    done.abort();
    expect(runs.map(({ err }) => err).join("")).toBe("");
    expect(runs.every(({ code }) => code === 0)).toBe(true);
    expect(await reader).toBeGreaterThan(0);
    const { json } = await box.cli(["list", "--json"]);
    const left = (json["servers"] as { name: string }[]).map(({ name }) => name).sort();
    expect(left).toEqual(["first", ...names.flatMap((name) => [`${name}-0`, `${name}-2`])].sort());
  });
});
