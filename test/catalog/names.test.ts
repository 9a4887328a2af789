import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toolId } from "../../src/catalog/names.ts";

const anyName = fc.oneof(
  fc.string({ minLength: 1, maxLength: 300 }),
  fc.string({ minLength: 1, maxLength: 20, unit: fc.constantFrom("a", "b", "_", "__", "-", "A") }),
  fc.constantFrom(
    "__proto__",
    "constructor",
    "a",
    "a_b",
    "b_c",
    "a__b",
    "🦊",
    "with space",
    "c".repeat(300),
    "x.y/z",
  ),
);

describe("M40 tool ids", () => {
  it("are plain if both parts are plain", () => {
    expect(toolId("github", "search_issues")).toBe("mcp__github__search_issues");
    expect(toolId("a-b", "Get_Thing", { style: "server", maxLength: 48 })).toBe("a-b__Get_Thing");
  });

  it("differ where simply joining the names would collide", () => {
    const pairs = [
      ["a_b", "c"],
      ["a", "b_c"],
      ["a", "_b_c"],
      ["a_", "b"],
      ["a", "a__b"],
      ["a__a", "b"],
      ["a", "B"],
      ["a", "b"],
      ["a", "b "],
      ["a", "b_"],
      ["A", "b"],
    ];
    const ids = pairs.map(([server = "", tool = ""]) => toolId(server, tool));
    expect(new Set(ids).size).toBe(pairs.length);
  });

  it.each(["mcp", "server"] as const)(
    "are legal, short enough, collision-free and stable in the %s style",
    (style) => {
      const seen = new Map<string, string>();
      fc.assert(
        fc.property(anyName, anyName, fc.integer({ min: 32, max: 64 }), (server, tool, maxLength) => {
          const id = toolId(server, tool, { style, maxLength });
          expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
          expect(id.length).toBeLessThanOrEqual(maxLength);
          expect(toolId(server, tool, { style, maxLength })).toBe(id);
          const key = JSON.stringify([server, tool]);
          const at = `${maxLength}/${id}`;
          expect(seen.get(at) ?? key).toBe(key);
          seen.set(at, key);
        }),
        { numRuns: 2000 },
      );
    },
  );

  it("map back by their shape when they are plain", () => {
    const plain = fc.stringMatching(/^[A-Za-z0-9-]{1,8}(_[A-Za-z0-9-]{1,8})?$/);
    fc.assert(
      fc.property(plain, plain, (server, tool) => {
        const [prefix, one, two, ...more] = toolId(server, tool).split("__");
        expect([prefix, one, two, more.length]).toEqual(["mcp", server, tool, 0]);
      }),
    );
  });
});
