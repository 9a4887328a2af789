import { describe, expect, it } from "vitest";
import { shownValue } from "../../src/lib/shown-value.ts";

const redact = (text: string) => text.replaceAll("s3cret-value", "(hidden)");
const sizeOf = (value: unknown) => JSON.stringify(value).length;

describe("M65 what watchers see of arguments", () => {
  it("is what was given, if that is short and harmless", () => {
    const value = { text: "hi", list: [1, true, null, { a: "b" }], maxTokens: 5 };
    expect(shownValue(value)).toEqual(value);
  });

  it("has no members whose names look secret, and none of the secrets that are known", () => {
    const value = { apiKey: "a", nested: { Authorization: ["b"] }, text: "it is s3cret-value." };
    expect(shownValue(value, redact)).toEqual({
      apiKey: "(hidden)",
      nested: { Authorization: "(hidden)" },
      text: "it is (hidden).",
    });
    expect(shownValue({ "s3cret-value": 1 }, redact)).toEqual({ "(hidden)": 1 });
  });

  it("does not show the half of a secret where a long text is cut", () => {
    for (let at = 4_080; at < 4_100; at++) {
      const text = `${"x".repeat(at)}s3cret-value${"y".repeat(100_000)}`;
      expect(JSON.stringify(shownValue({ text }, redact))).not.toMatch(/s3c|ret-value/);
    }
    // What is hidden is shorter, so that what follows moves up.
    const many = "s3cret-value".repeat(2_000);
    expect(JSON.stringify(shownValue({ many }, redact))).not.toMatch(/s3c(?!ret-value)/);
  });

  it.each([
    ["a long text", { a: "x".repeat(10_000_000) }],
    ["many texts", Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, "xxxx"]))],
    ["a long array", { a: Array.from({ length: 1_000_000 }, () => 0) }],
    ["long names", { ["n".repeat(1_000_000)]: 1 }],
  ])("is cut: %s", (_, value) => {
    expect(sizeOf(shownValue(value))).toBeLessThan(30_000);
  });

  it("ends at some depth, also for a value that contains itself", () => {
    const loop: Record<string, unknown> = {};
    loop["loop"] = loop;
    expect(sizeOf(shownValue(loop))).toBeLessThan(300);
  });

  it("takes names of members that every object has as they are", () => {
    const value = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}') as unknown;
    expect(JSON.stringify(shownValue(value))).toBe('{"__proto__":{"a":1},"constructor":2}');
  });
});
