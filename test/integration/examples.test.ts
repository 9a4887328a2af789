import { execFileSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { gatewayScreens, statusScreens } from "../../scripts/pictures/screens.ts";
import { pictureText, screenText } from "../../scripts/pictures/terminal-picture.ts";
import { blur, createClone } from "../clone.ts";
import { codeBlocks } from "../code-blocks.ts";
import { runNode } from "../run-command.ts";

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

const readmes = [
  { place: "a clone", isPackage: false, page: () => readFileSync("README.md", "utf8") },
  {
    place: "a project with the package",
    isPackage: true,
    page: () => execFileSync(process.execPath, ["scripts/package-readme.mjs"], { encoding: "utf8" }),
  },
];

describe("the README", () => {
  it.each(readmes)("shows the real output of every command in $place", ({ isPackage, page }) => {
    const { folder, run, remove } = createClone({ isPackage });
    onTestFinished(remove);
    const readme = page();
    const [program = ""] = blocks(readme, "js");
    const library = JSON.stringify(isPackage ? "plugboard" : resolve("src/index.ts"));
    writeFileSync(join(folder, "demo.mjs"), program.replace('"plugboard"', library));
    const steps = blocks(readme, "console").flatMap(stepsOf);
    expect(steps.length).toBeGreaterThan(5);
    for (const { command, output } of steps) {
      const expected = blur(output);
      const shown = blur(run(command));
      // The last line says that there is more.
      const isCut = expected.endsWith("\n…");
      const compared = isCut ? `${shown.slice(0, expected.length - 1)}…` : shown;
      expect(`$ ${command}\n${compared}`).toBe(`$ ${command}\n${expected}`);
    }
  });

  const pictures = [
    { picture: "status", screens: statusScreens },
    { picture: "gateway", screens: gatewayScreens },
  ];
  it.each(pictures)("M23 has a picture of what the commands print: $picture", ({ picture, screens }) => {
    const svg = readFileSync(`docs/pictures/${picture}.svg`, "utf8");
    expect(blur(pictureText(svg))).toBe(blur(screenText(screens())));
  });
});

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
