import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createClone, whileServing } from "../clone.ts";
import { codeBlocks } from "../code-blocks.ts";
import { lacks } from "../machine.ts";

const blocks = codeBlocks(readFileSync("docs/other-languages.md", "utf8"));
const under = (title: string, language: string) =>
  blocks.find((block) => block.heading === title && block.language === language)?.text ?? "";
const [add = ""] = blocks.filter(({ language }) => language === "sh").map(({ text }) => text);

describe.skipIf(lacks("python", "curl", "bash"))("M21 the programs of docs/other-languages.md", () => {
  /** A folder where `plugboard` is configured as the page says. */
  function createProject() {
    const clone = createClone();
    onTestFinished(clone.remove);
    clone.run(`npx ${add}`);
    return clone;
  }

  it("use the gateway over HTTP from Python and from a shell", () => {
    const title = "Python, over HTTP";
    const { folder, run } = createProject();
    writeFileSync(join(folder, "program.py"), under(title, "python"));
    writeFileSync(join(folder, "call.sh"), under("A shell", "sh"));
    const lines = "python3 program.py\nPLUGBOARD_TOKEN= python3 program.py\nbash call.sh";
    const output = run(whileServing(lines));
    const expected = under(title, "text");
    expect(expected).toContain("42");
    // The second run finds the token in its file.
    const [answer = ""] = output.split(expected + expected).slice(1);
    expect(JSON.parse(answer)).toMatchObject({
      result: { content: [{ type: "text", text: "The sum of 19 and 23 is 42." }] },
    });
  });

  it("start a gateway and end it, from Python", () => {
    const title = "Python, over stdio";
    const { folder, run } = createProject();
    writeFileSync(join(folder, "program.py"), under(title, "python"));
    expect(run('PLUGBOARD_COMMAND="npx plugboard" python3 program.py')).toBe(under(title, "text"));
  });
});
