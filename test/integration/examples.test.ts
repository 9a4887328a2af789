import { spawnSync } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { codeBlocks } from "../code-blocks.ts";
import { runNode } from "../run-command.ts";
import { commandLine } from "../command-line.ts";

describe("the examples", () => {
  const programs = globSync("examples/*.ts").toSorted();

  it("exist", () => {
    expect(programs.length).toBeGreaterThan(0);
  });

  it.each(programs)("%s runs, prints something and exits by itself", async (program) => {
    const { code, out, err } = await runNode([program]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).not.toBe("");
  });
});

describe("the README", () => {
  it("shows the real output of every command", () => {
    const { folder, run } = createClone();
    const readme = readFileSync("README.md", "utf8");
    const [program = ""] = blocks(readme, "js");
    const library = JSON.stringify(resolve("src/index.ts"));
    writeFileSync(join(folder, "demo.mjs"), program.replace('"plugboard"', library));
    const steps = blocks(readme, "console").flatMap(stepsOf);
    expect(steps.length).toBeGreaterThan(5);
    for (const { command, output } of steps) {
      const expected = blur(output);
      const shown = run(command);
      // The last line says that there is more.
      const isCut = expected.endsWith("\n…");
      const compared = isCut ? `${shown.slice(0, expected.length - 1)}…` : shown;
      expect(`$ ${command}\n${compared}`).toBe(`$ ${command}\n${expected}`);
    }
  });
});

/** A temporary home in place of /home/ada, with a clone in it whose `npx plugboard` runs the sources. */
function createClone() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-readme-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 20 }));
  const folder = join(home, "plugboard");
  mkdirSync(folder);
  installModules(join(folder, "node_modules"));
  const path = `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`;
  const options = { cwd: folder, env: { HOME: home, PATH: path }, encoding: "utf8" as const };
  const run = (command: string): string => {
    const own = command.replace(/^npx plugboard\b/, `node ${commandLine}`);
    const script = /^npx plugboard serve\b/.test(command) ? untilConnectable(own) : own;
    const { stdout } = spawnSync("sh", ["-c", `{ ${script}\n} 2>&1`], options);
    return blur(stdout.replaceAll(home, "/home/ada"));
  };
  return { folder, run };
}

/** Runs `serve` on any free port until it has said everything. */
function untilConnectable(serve: string): string {
  return [
    // The file has to be there before it is looked into.
    `: > ../served; ${serve} --port 0 --quiet >> ../served & pid=$!`,
    "for turn in $(seq 600); do grep -q Gemini ../served && break; sleep 0.1; done",
    "kill $pid; wait $pid; cat ../served",
  ].join("\n");
}

/** Links to what is installed here. The server whose files are shown is a copy, because a clone has no links there. */
function installModules(folder: string): void {
  const copied = "@modelcontextprotocol/server-memory";
  const scope = dirname(copied);
  mkdirSync(join(folder, scope), { recursive: true });
  const names = [
    ...readdirSync("node_modules"),
    ...readdirSync(join("node_modules", scope)).map((name) => join(scope, name)),
  ];
  for (const name of names.filter((one) => one !== scope && one !== copied))
    symlinkSync(resolve("node_modules", name), join(folder, name));
  cpSync(realpathSync(join("node_modules", copied)), join(folder, copied), { recursive: true });
}

const blocks = (page: string, language: string) =>
  codeBlocks(page).flatMap((block) => (block.language === language ? [block.text] : []));

function stepsOf(block: string): { command: string; output: string }[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((step) => ({
      command: step.slice(0, step.indexOf("\n")),
      output: step.slice(step.indexOf("\n") + 1),
    }));
}

/** Replaces what differs between folders and runs. */
function blur(text: string): string {
  return text
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:7420")
    .replaceAll(/projects\/[^\s:]+\.json/g, "projects/….json")
    .replaceAll(/\b\d+(\.\d+)? ?(ms|s)\b/g, "… ms")
    .replaceAll(/(?<=\S) +/g, " ")
    .trimEnd();
}
