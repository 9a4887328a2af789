import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePromptCommand, promptUsage } from "../../src/calls/prompt-command.ts";

const forecast = [{ name: "city", required: true }, { name: "days" }, { name: "units" }];

describe("M48 prompts as commands", () => {
  it.each<[string, Record<string, string>]>([
    ["Berlin", { city: "Berlin" }],
    ["Berlin 3", { city: "Berlin", days: "3" }],
    ["  Berlin\t3  metric ", { city: "Berlin", days: "3", units: "metric" }],
    ['"New York" 3', { city: "New York", days: "3" }],
    ["'New York'", { city: "New York" }],
    ["city=Berlin", { city: "Berlin" }],
    ["days=3 city=Berlin", { city: "Berlin", days: "3" }],
    ["units=metric Berlin 3", { city: "Berlin", days: "3", units: "metric" }],
    ['city="New York" days=3', { city: "New York", days: "3" }],
    ["city=", { city: "" }],
    ['""', { city: "" }],
    ["a=b", { city: "a=b" }],
    ["city=a=b", { city: "a=b" }],
    ['"city=Berlin"', { city: "city=Berlin" }],
    ["what's 3", { city: "what's", days: "3" }],
    ['5" 3', { city: '5"', days: "3" }],
    ['"unclosed', { city: '"unclosed' }],
    ['"say \\"hi\\" \\\\ now"', { city: 'say "hi" \\ now' }],
    ["C:\\temp\\x", { city: "C:\\temp\\x" }],
    ["東京", { city: "東京" }],
  ])("read %j", (line, args) => {
    expect(parsePromptCommand(`/mcp__weather__forecast ${line}`, forecast)).toEqual({
      command: "mcp__weather__forecast",
      args,
    });
  });

  it.each([
    ["", "`city` is missing"],
    ["days=3", "`city` is missing"],
    ["a b c d", "takes 3 arguments; `d` too many"],
    ["city=a city=b", "`city` is given twice"],
    ["city=a b c d", "takes 3 arguments; `d` too many"],
  ])("refuse %j with the usage", (line, problem) => {
    expect(() => parsePromptCommand(`/mcp__weather__forecast ${line}`, forecast)).toThrow(
      expect.objectContaining({
        code: "usage-invalid",
        message: `/mcp__weather__forecast: ${problem}`,
        hint: "Usage: /mcp__weather__forecast <city> [days] [units]. Put quotes around values with spaces.",
      }),
    );
  });

  it("accept no arguments if none are declared", () => {
    expect(parsePromptCommand("/mcp__a__b", [])).toEqual({ command: "mcp__a__b", args: {} });
    expect(promptUsage("mcp__a__b", [])).toBe("/mcp__a__b");
    expect(() => parsePromptCommand("/mcp__a__b x", [])).toThrow("takes 0 arguments; `x` too many");
  });

  it("accept arguments with names of built-in object members", () => {
    const { args } = parsePromptCommand("/p __proto__=1 constructor=2", [
      { name: "__proto__" },
      { name: "constructor" },
    ]);
    expect(Object.entries(args)).toEqual([
      ["__proto__", "1"],
      ["constructor", "2"],
    ]);
  });

  it("read back any quoted values, named or in order", () => {
    const quote = (value: string) => `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme" }), { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        (values, isNamed) => {
          const words = values.map(
            (value, index) => `${isNamed ? `${forecast[index]?.name}=` : ""}${quote(value)}`,
          );
          const { args } = parsePromptCommand(`/p ${words.join(" ")}`, forecast);
          expect(Object.values(args)).toEqual(values);
        },
      ),
    );
  });
});
