import { spawnSync } from "node:child_process";
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runNode } from "../run-command.ts";

describe("the examples", () => {
  const programs = globSync("examples/*.ts").toSorted();

  it("are there", () => {
    expect(programs.length).toBeGreaterThan(0);
  });

  it.each(programs)("%s does what it says, and ends by itself", async (program) => {
    const { code, out, err } = await runNode([program]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).not.toBe("");
  });
});

describe("the tour of the README", () => {
  it("prints what it says, from the first command to the last", () => {
    const { root, run } = createTour();
    const readme = readFileSync("README.md", "utf8");
    const [program = ""] = blocks(readme, "js");
    const library = JSON.stringify(resolve("src/index.ts"));
    writeFileSync(join(root, "notes", "tools.mjs"), program.replace('"plugboard"', library));
    const steps = blocks(readme, "console").flatMap(stepsOf);
    expect(steps.length).toBeGreaterThan(5);
    for (const { command, output } of steps) {
      expect(`$ ${command}\n${run(command)}`).toBe(`$ ${command}\n${blur(output)}`);
    }
  });
});

/** The tour's own folder in place of /tmp/tour, and the sources in place of what was built from them. */
function createTour() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-tour-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "home"));
  mkdirSync(join(root, "notes"));
  symlinkSync(process.cwd(), join(root, "plugboard"));
  const main = resolve("src/cli/main.ts");
  const path = `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`;
  const run = (command: string): string => {
    const script = `plugboard() { node ${main} "$@"; }\n${command.replaceAll("/tmp/tour", root)}`;
    const options = { cwd: join(root, "notes"), env: { HOME: join(root, "home"), PATH: path } };
    const { stdout } = spawnSync("bash", ["-c", `{ ${script}\n} 2>&1`], { ...options, encoding: "utf8" });
    return blur(stdout.replaceAll(root, "/tmp/tour"));
  };
  return { root, run };
}

function blocks(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map(
    ([, body = ""]) => body,
  );
}

function stepsOf(block: string): { command: string; output: string }[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((step) => ({
      command: step.slice(0, step.indexOf("\n")),
      output: step.slice(step.indexOf("\n") + 1),
    }));
}

/** What differs from folder to folder and from run to run. */
function blur(text: string): string {
  return text
    .replaceAll(/projects\/[^\s:]+\.json/g, "projects/….json")
    .replaceAll(/\b\d+(\.\d+)? ?(ms|s)\b/g, "… ms")
    .replaceAll(/(?<=\S) +/g, " ")
    .trimEnd();
}
