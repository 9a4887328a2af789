import { globSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runNode } from "../run-command.ts";

describe("the examples", () => {
  const programs = globSync("examples/*.ts").toSorted();

  it("are there", () => {
    expect(programs.length).toBeGreaterThan(0);
  });

  it.each(programs)("%s does what it says, and ends by itself", async (program) => {
    const { code, out, err } = await runNode([program]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).not.toBe("");
  });
});
