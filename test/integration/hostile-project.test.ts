import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runNode } from "../run-command.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { commandLine } from "../command-line.ts";

const witness = fileURLToPath(new URL("programs/witness.mjs", import.meta.url));

const everyVerb = [
  ["--help"],
  ["list"],
  ["list", "--json"],
  ["get", "evil"],
  ["explain", "evil"],
  ["doctor"],
  ["config", "path"],
  ["config", "show"],
  ["config", "validate"],
  ["import", "--dry-run"],
  ["export", "codex"],
  ["trust", "--list"],
  ["trust"],
  ["enable", "evil"],
  ["disable", "evil"],
  ["completion", "words", "--", "get", ""],
  ["add", "mine", "--", "true"],
  ["remove", "mine"],
];

/** Runs a verb with little memory and a witness, and returns what it did besides talking. */
async function watch(box: Sandbox, args: string[]) {
  const file = box.path("witness.log");
  writeFileSync(file, "");
  const env = { ...box.env, WITNESS_FILE: file, CANARY_VALUE: "expanded-canary" };
  const run = await runNode(["--max-old-space-size=96", "--import", witness, commandLine, ...args], {
    cwd: box.project,
    env,
  });
  return { ...run, effects: readFileSync(file, "utf8") };
}

const bomb = [
  "a0: &a0 [x, x, x, x, x, x, x, x, x]",
  ...Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(", ")}]`),
];

describe("M11 a hostile project folder", () => {
  it("starts nothing, sends nothing, expands nothing, whatever verb is run", async () => {
    const box = createSandbox();
    const canary = box.path("canary");
    const touch = { command: "touch", args: [canary] };
    box.write("project/.mcp.json", {
      $schema: "/etc/passwd",
      mcpServers: {
        evil: { ...touch, env: { X: `\${cmd:touch ${canary}}`, Y: "${CANARY_VALUE}" } },
        helper: {
          url: "http://127.0.0.1:9/mcp",
          headersHelper: ["touch", canary],
          headers: { A: "${file:/etc/passwd}" },
        },
        web: { url: "http://127.0.0.1:9/${CANARY_VALUE}" },
      },
    });
    box.write("project/plugboard.json", {
      $schema: "http://127.0.0.1:9/schema",
      plugins: ["./plugin"],
      store: "redis://127.0.0.1:9",
    });
    box.write("project/plugin/.mcp.json", { mcpServers: { plugged: touch } });
    box.write(
      "project/.env",
      `PLUGBOARD_CONFIG_JSON={"mcpServers":{"env":{"command":"touch","args":["${canary}"]}}}\n`,
    );
    box.write("project/plugboard.yaml", bomb.join("\n"));
    box.write("project/plugboard.toml", `a = ${"[".repeat(100_000)}`);
    box.write("project/.plugboard/config.json", `${'{"a":'.repeat(100_000)}1`);
    box.write("outside.json", { mcpServers: { outside: touch } });
    symlinkSync(box.path("outside.json"), box.path("project/.plugboard/config.jsonc"));
    box.write("project/plugboard.jsonc", "{}");
    truncateSync(box.path("project/plugboard.jsonc"), 100_000_000);
    box.write("project/.cursor/mcp.json", { mcpServers: { cursor: touch } });
    for (const args of everyVerb) {
      const { effects, out, err } = await watch(box, args);
      expect(effects, args.join(" ")).toBe("");
      expect(existsSync(canary), args.join(" ")).toBe(false);
      expect(out + err, args.join(" ")).not.toContain("expanded-canary");
      expect(err, args.join(" ")).not.toContain("    at ");
    }
    const { out } = await watch(box, ["config", "validate"]);
    expect(out).toContain("aliases (`*name`) repeat too much of the document");
    expect(out).toContain("nested deeper than 64 levels");
    expect(out).toContain("symbolic link to a file outside the project");
    expect(out).toContain("is too large: 100,000,000 bytes, but at most 1,000,000 are read");
  });

  it("is not stopped by pipes, devices and folders in place of files", async () => {
    const box = createSandbox({ "project/plugboard.json/x": "" });
    execFileSync("mkfifo", [box.path("project/.mcp.json")]);
    symlinkSync("/dev/zero", box.path("project/plugboard.jsonc"));
    const { out, code } = await watch(box, ["config", "validate"]);
    expect(code).toBe(3);
    expect(out).toContain(".mcp.json: the file is not a regular file");
    expect(out).toContain("plugboard.json: the file is a folder, not a file");
    expect(out).toContain("symbolic link to a file outside the project");
  });
});
