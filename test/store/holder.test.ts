import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { currentHolder, isGone, parseProcessStat } from "../../src/store/holder.ts";

describe("the holder of a lease", () => {
  test("its start time is found behind any command name", () => {
    const rest = ` S 1 ${Array.from({ length: 17 }, (_, index) => 100 + index).join(" ")} 987654 4096 0`;
    for (const name of ["node", "a) S 1 2", "((", ") R 5 (x", "with space", ""]) {
      expect(parseProcessStat(`42 (${name})${rest}`)).toEqual({ state: "S", started: "987654" });
    }
    expect(parseProcessStat("")).toBeUndefined();
    expect(parseProcessStat("42 (cut off) S 1")).toBeUndefined();
  });

  test.runIf(process.platform === "linux")("its start time is field 22 of /proc/<pid>/stat", () => {
    const fields = readFileSync("/proc/self/stat", "utf8")
      .replace(/\(.*\)/s, "name")
      .split(" ");
    expect(currentHolder()).toMatchObject({ pid: process.pid, started: fields[21] });
  });

  test("a running process is never considered gone, even if its start time is unknown", () => {
    const here = currentHolder();
    expect(isGone(here, here)).toBe(false);
    expect(isGone({ ...here, started: "" }, here)).toBe(false);
    expect(isGone({ ...here, pid: process.ppid, started: "" }, here)).toBe(false);
  });
});
