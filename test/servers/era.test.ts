import { describe, expect, it } from "vitest";
import { judgeProbe, planEra, rememberEra } from "../../src/servers/era.ts";

describe("M21 deciding the era", () => {
  it("sends both requests to an unknown server, and only one to a known or pinned one", () => {
    expect(planEra("auto", undefined)).toEqual({ probe: true, initializeAfterMs: 2000 });
    expect(planEra("modern", undefined)).toEqual({ probe: true, initializeAfterMs: undefined });
    expect(planEra("legacy", undefined)).toEqual({ probe: false, initializeAfterMs: 0 });
    expect(planEra("auto", { era: "legacy", basis: "answer", silences: 0 })).toEqual({
      probe: false,
      initializeAfterMs: 0,
    });
    expect(planEra("auto", { era: "modern", basis: "answer", silences: 0 }).probe).toBe(true);
  });

  it("lets the probe time out at most twice per server, the second time with a longer timeout", () => {
    let memory = rememberEra(undefined, { era: "legacy", basis: "silence" });
    expect(planEra("auto", memory)).toEqual({ probe: true, initializeAfterMs: 8000 });
    memory = rememberEra(memory, { era: "legacy", basis: "silence" });
    expect(planEra("auto", memory)).toEqual({ probe: false, initializeAfterMs: 0 });
  });

  it("treats any refusal as legacy, except one that lists only modern revisions we do not support", () => {
    for (const code of [-32601, -32602, -32000, -32001, 0, undefined]) {
      expect(judgeProbe(code === undefined ? { kind: "refused" } : { kind: "refused", code })).toEqual({
        era: "legacy",
        basis: "answer",
      });
    }
    expect(judgeProbe({ kind: "refused", code: -32022, supported: ["2027-01-01"] })).toMatchObject({
      era: "none",
    });
    expect(judgeProbe({ kind: "refused", code: -32022, supported: ["2025-06-18"] })).toMatchObject({
      era: "legacy",
    });
    expect(judgeProbe({ kind: "exited" })).toEqual({ era: "legacy", basis: "exit" });
    expect(judgeProbe({ kind: "silent" })).toEqual({ era: "legacy", basis: "silence" });
  });
});
