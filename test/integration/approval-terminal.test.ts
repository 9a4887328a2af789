import { describe, expect, it } from "vitest";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { lacks } from "../machine.ts";
import { onScreen } from "../on-screen.ts";
import { createSandbox } from "../sandbox.ts";

/** Texts that try to be a line of the question: by line breaks, by full lines, and by wide letters that fill them. */
const forgeries = [
  "a\n  path  /srv/safe",
  `${"x".repeat(53)} path  /srv/safe`,
  `${"\u{1f210}".repeat(28)}│    path  /srv/safe`,
  `${"कि".repeat(28)}│    path  /srv/safe`,
  `a\u{2028}│    path  /srv/safe\r│    path  /srv/safe`,
  `a${"\u{301}".repeat(500)}\u{3164}${"\u{1d173}".repeat(60)}│    path  /srv/safe`,
  `a${"\t".repeat(20)}path  /srv/safe`,
];

describe.skipIf(lacks("tmux"))("the question about a call on a terminal", () => {
  it("shows each argument on its line, none that is not there, and everything on request", async () => {
    const box = createSandbox({
      "home/.config/plugboard/config.json": { mcpServers: { it: fakeStdio() }, approval: "prompt" },
    });
    const args = {
      items: forgeries,
      ...Object.fromEntries(forgeries.map((text, at) => [`text${at}`, text])),
      content: Array.from({ length: 300 }, (_, at) => `line ${at}`).join("\n"),
      path: "/srv/secrets",
    };
    const screen = onScreen(box, ["call", "it.echo", JSON.stringify(args)], { columns: 60, rows: 100 });
    const isAsked = async (times: number) => {
      const asked = () => screen.capture().match(/[◆◇] {2}Call it\?/g);
      await expect.poll(asked, { timeout: 30_000 }).toHaveLength(times);
    };
    /** What a person takes for the argument `path`. */
    const paths = () => screen.capture().match(/^│ {1,4}path .*$/gm);

    await isAsked(1);
    expect(screen.capture()).toContain("more lines, about");
    expect(screen.capture()).not.toContain("line 150");
    expect(paths()).toEqual(["│    path     /srv/secrets"]);
    screen.type("Down", "Down", "Enter");
    await isAsked(2);
    expect(screen.capture()).toContain("line 150");
    expect(paths()).toEqual(Array(2).fill("│    path     /srv/secrets"));
    // Every line of the question begins with the guide of the question.
    const block = screen
      .capture()
      .split("\n")
      .filter((line) => line.trim() !== "");
    expect(block.filter((line) => !/^[│◆◇└]/.test(line))).toEqual([]);
    screen.type("Enter");
    screen.end();
    expect(screen.capture()).toContain("was not called: you answered No");
  });
});
