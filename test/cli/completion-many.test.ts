import { describe, expect, it } from "vitest";
import { createSandbox } from "../sandbox.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";

const tiny = (start: string) =>
  Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`${start}${at}`, { command: "x" }]));

async function scene() {
  const box = createSandbox({
    "home/.config/plugboard/config.json": { mcpServers: { zebra: fakeStdio({}) } },
    "project/plugboard.json": { mcpServers: { middle: { command: "y" } } },
  });
  expect((await box.cli(["trust", "middle", "--yes"])).code).toBe(0);
  expect((await box.cli(["tools", "zebra"])).code).toBe(0);
  box.write("project/plugboard.json", { mcpServers: { ...tiny("a"), middle: { command: "y" } } });
  const offered = async (...line: string[]) => {
    const { code, out } = await box.cli(["completion", "words", "--", ...line]);
    expect(code).toBe(0);
    return out.split("\n").slice(0, -1);
  };
  return { box, offered };
}

describe("M12 a project with thousands of servers that are not trusted", () => {
  it("does not keep one's own and trusted ones, and their tools, out of the completion", async () => {
    const { offered } = await scene();
    expect((await offered("get", "")).slice(0, 3)).toEqual(["zebra", "middle", "a0"]);
    const tools = await offered("tools", "");
    expect(tools.slice(0, 2)).toEqual(["zebra", "middle"]);
    expect(tools.indexOf("zebra.add")).toBeGreaterThan(0);
    expect(tools.indexOf("zebra.add")).toBeLessThan(tools.indexOf("a0"));
  });

  it("are counted, not all named, where a command says what it did not use", async () => {
    const { box } = await scene();
    const { err } = await box.cli(["tools"]);
    expect(err).toContain("Not used: a0, a1, a2, a3, a4, a5, a6, a7 and 2,992 more.");
  });
});
