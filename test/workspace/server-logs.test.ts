import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { appendLog, olderFile, readLog } from "../../src/workspace/logs/log-file.ts";
import { followLog } from "../../src/workspace/logs/follow.ts";
import { createSandbox } from "../sandbox.ts";

const program = new URL("programs/append-log.ts", import.meta.url).pathname;

describe("M23 a server's log on disk", () => {
  it("never grows beyond two files of half a megabyte", () => {
    const path = join(createSandbox().root, "logs", "a.jsonl");
    const line = `${"x".repeat(999)}\n`;
    for (let at = 0; at < 3_000; at++) appendLog(path, line);
    expect(statSync(path).size).toBeLessThanOrEqual(512 * 1024);
    expect(statSync(olderFile(path)).size).toBeLessThanOrEqual(512 * 1024);
    const text = readLog(path);
    expect(text.length).toBeGreaterThan(512 * 1024);
    expect(text.replaceAll(line, "")).toBe("");
  });

  it("keeps every line of several processes whole while they turn it over", async () => {
    const path = join(createSandbox().root, "logs", "a.jsonl");
    const writers = ["a", "b", "c"].map((name) => spawn(process.execPath, [program, path, name, "2500"]));
    await Promise.all(writers.map((writer) => once(writer, "exit")));
    const lines = readLog(path).trim().split("\n");
    for (const line of lines) expect(line).toMatch(/^([abc])\1{99} \d+$/);
    expect(statSync(olderFile(path)).size).toBeGreaterThan(500_000);
    for (const name of ["a", "b", "c"]) {
      const own = lines.filter((line) => line.startsWith(name)).map((line) => Number(line.split(" ")[1]));
      expect(own).toEqual(Array.from({ length: 2_500 }, (_, at) => at));
    }
  });

  it("is followed across the moment when it is turned over, and from before it exists", async () => {
    const path = join(createSandbox().root, "logs", "a.jsonl");
    const stop = new AbortController();
    const seen: string[] = [];
    const all = Promise.withResolvers<void>();
    const following = followLog(
      path,
      (text) => {
        seen.push(text);
        if (seen.join("").endsWith("999 last\n")) all.resolve();
      },
      stop.signal,
    );
    const expected = Array.from(
      { length: 1_000 },
      (_, at) => `${"y".repeat(700)} ${at}${at === 999 ? " last" : ""}\n`,
    );
    // Slower than it is read, because at most one older file is kept.
    for (const [at, line] of expected.entries()) {
      appendLog(path, line);
      if (at % 300 === 299) await expect.poll(() => seen.join("").endsWith(line)).toBe(true);
    }
    await all.promise;
    stop.abort();
    await following;
    expect(seen.join("")).toBe(expected.join(""));
    expect(readFileSync(path, "utf8")).toContain("999 last");
  });
});
