import { expect, it } from "vitest";
import { Words } from "../../../src/catalog/search/words.ts";

const words = new Words();

it.each([
  ["readFile", ["read", "file"], ["readfil"]],
  ["read_file-contents", ["read", "file", "content"], []],
  ["GitHub", ["git", "hub"], ["github"]],
  ["HTTPServer", ["http", "server"], ["httpserver"]],
  ["base64", ["base", "64"], ["base64"]],
  ["ISSUES", ["issu"], []],
  ["größeÄndern", ["größe", "ändern"], ["größeändern"]],
  ["天気予報", ["天気", "気予", "予報"], []],
  ["查天气API", ["查天", "天气", "api"], []],
  ["हिन्दी खोज", ["हिन्दी", "खोज"], []],
  ["ｆｉｌｅ", ["file"], []],
  ["the and of please", [], []],
  ["👋 — !?", [], []],
])("M49 %s is split into words", (text, parts, wholes) => {
  expect(words.termsOf(text, 100)).toEqual({ parts, wholes });
  expect(words.termsOf(text, 100)).toEqual({ parts, wholes });
});

it("M49 a name keeps the words that a text can do without", () => {
  expect(words.termsOf("get_all", 100, true).parts).toEqual(["get", "all"]);
  expect(words.termsOf("get_all", 100).parts).toEqual([]);
});

it("M49 a long text has no more words than are asked for, and a long word is none", () => {
  expect(words.termsOf("red green ".repeat(100_000), 50).parts).toHaveLength(50);
  expect(words.termsOf("x".repeat(1_000_000), 50)).toEqual({ parts: [], wholes: [] });
  expect(words.termsOf("天".repeat(1_000_000), 50).parts.length).toBeLessThan(2_000);
});
