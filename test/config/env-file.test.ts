import { describe, expect, it } from "vitest";
import { parseEnvFile } from "../../src/config/env-file.ts";

const values = (text: string) => Object.fromEntries(parseEnvFile(text).values);

describe("a .env file", () => {
  it.each<[string, string, string]>([
    ["a plain value", "A=b", "b"],
    ["spaces around it", "  A =  b c  ", "b c"],
    ["export", "export A=b", "b"],
    ["Windows lines", "A=b\r\nB=c\r\n", "b"],
    ["nothing", "A=", ""],
    ["a comment behind it", "A=b # not c", "b"],
    ["a comment instead", "A= # b", ""],
    ["a hash inside it", "A=b#c", "b#c"],
    ["an equals sign inside it", "A=b=c==", "b=c=="],
    ["a dollar sign", "A=$B${C}", "$B${C}"],
    ["single quotes", "A='b # \\n \"c\"' # d", 'b # \\n "c"'],
    ["double quotes", 'A="b\\n\\"c\\" \\\\ \\$d"', 'b\n"c" \\ $d'],
    ["backticks", "A=`b 'c' \"d\"`", "b 'c' \"d\""],
    ["several lines", 'A="-----BEGIN\r\nkey\n-----END"\nB=c', "-----BEGIN\nkey\n-----END"],
    ["twice: the last", "A=b\nA=c", "c"],
  ])("takes %s", (_name, text, value) => {
    expect(values(text)["A"]).toBe(value);
    expect(parseEnvFile(text).mistakes).toEqual([]);
  });

  it("names the lines that it does not understand, without their text, and reads the others", () => {
    const text = ["# one", "A=1", "sk-secret", "B='x' y", "__proto__=2", "C='open", "D=4", "1X=5"].join("\n");
    expect(parseEnvFile(text).mistakes).toEqual([
      { line: 3, message: "expected NAME=value" },
      { line: 4, message: "only a comment may follow the closing quote" },
      { line: 6, message: "the quote is not closed" },
      { line: 8, message: "expected NAME=value" },
    ]);
    expect([...parseEnvFile(text).values]).toEqual([
      ["A", "1"],
      ["__proto__", "2"],
      ["D", "4"],
    ]);
  });
});
