import { describe, expect, it } from "vitest";
import {
  copyExactMember,
  exactId,
  parseExact,
  stringifyExact,
  withExactId,
} from "../../src/lib/exact-json.ts";

const big = "9007199254740993";

describe("JSON with numbers that JavaScript cannot hold", () => {
  it.each([
    `{"a":${big}}`,
    `[1,${big},{"b":[${big}]}]`,
    `{"__proto__":${big},"constructor":1e400}`,
    `{"a":-12345678901234567890.5,"b":0.1000000000000000055}`,
    `{"text":"${big}","near":9007199254740992}`,
  ])("is written as it came: %s", (text) => expect(stringifyExact(parseExact(text))).toBe(text));

  it("keeps them in copies that spreading makes, but not if they were changed", () => {
    const value = parseExact(`{"a":${big},"b":${big}}`) as Record<string, unknown>;
    expect(stringifyExact({ x: [{ ...value, b: 2 }] })).toBe(`{"x":[{"a":${big},"b":2}]}`);
    expect(stringifyExact(copyExactMember(value, "a", { b: 1, a: value["a"] }))).toBe(`{"b":1,"a":${big}}`);
  });

  it("is an ordinary value for everything else", () => {
    const value = parseExact(`{"a":${big}}`) as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(["a"]);
    expect(value["a"]).toBe(Number(big));
    expect(JSON.stringify(value)).toBe(`{"a":${Number(big)}}`);
  });

  it("tells ids from each other", () => {
    const ids = [big, "9007199254740992"].map((id) => exactId(parseExact(`{"id":${id}}`) as object, "id"));
    expect(new Set(ids).size).toBe(2);
    expect(stringifyExact(withExactId({ result: {} }, ids[0] as bigint))).toBe(`{"result":{},"id":${big}}`);
  });
});
