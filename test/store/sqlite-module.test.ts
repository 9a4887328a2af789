import { expect, onTestFinished, test } from "vitest";
import { loadSqlite, withoutExperimentalWarning } from "../../src/store/sqlite/module.ts";

test("loading SQLite hides its experimental warning, lets others through and leaves no trace", () => {
  const original = Reflect.get(process, "emitWarning");
  const seen: unknown[] = [];
  const spy = (warning: unknown) => void seen.push(warning);
  process.emitWarning = spy;
  onTestFinished(() => void (process.emitWarning = original));
  const answer = withoutExperimentalWarning(() => {
    process.emitWarning("SQLite is an experimental feature", "ExperimentalWarning");
    process.emitWarning("SQLite is an experimental feature", { type: "ExperimentalWarning" });
    process.emitWarning("something else", "DeprecationWarning");
    return "loaded";
  });
  expect(answer).toBe("loaded");
  expect(seen).toEqual(["something else"]);
  expect(Reflect.get(process, "emitWarning")).toBe(spy);
});

test("SQLite is available", () => {
  expect(loadSqlite()?.DatabaseSync).toBeTypeOf("function");
});
