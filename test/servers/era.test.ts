import { describe, expect, it } from "vitest";
import { judgeProbe, planEra, rememberEra } from "../../src/servers/era.ts";

describe("M21 deciding the era", () => {
  it("asks both questions of an unknown server, and only one of a known or pinned one", () => {
    expect(planEra("auto", undefined)).toEqual({ probe: true, initializeAfterMs: 2000 });
    expect(planEra("modern", undefined)).toEqual({ probe: true, initializeAfterMs: undefined });
    expect(planEra("legacy", undefined)).toEqual({ probe: false, initializeAfterMs: 0 });
    expect(planEra("auto", { era: "legacy", basis: "answer", silences: 0 })).toEqual({
      probe: false,
      initializeAfterMs: 0,
    });
    expect(planEra("auto", { era: "modern", basis: "answer", silences: 0 }).probe).toBe(true);
  });

  it("waits out silence at most twice in a server's life, the second time with more patience", () => {
    let memory = rememberEra(undefined, { era: "legacy", basis: "silence" });
    expect(planEra("auto", memory)).toEqual({ probe: true, initializeAfterMs: 8000 });
    memory = rememberEra(memory, { era: "legacy", basis: "silence" });
    expect(planEra("auto", memory)).toEqual({ probe: false, initializeAfterMs: 0 });
  });

  it("takes any refusal for legacy, except the one that names a modern revision we do not share", () => {
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
