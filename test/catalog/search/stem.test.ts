import { expect, it } from "vitest";
import { stem } from "../../../src/catalog/search/stem.ts";

it.each([
  ["search searches searched searching", "search"],
  ["file files filed filing", "file"],
  ["query queries querying", "queri"],
  ["create creates created creating creation creator", "creat"],
  ["translate translation translations translator", "translat"],
  ["summarize summarizes summarization", "summar"],
  ["notification notifications notify", "notif"],
  ["run runs running", "run"],
  ["hopeful hopefully hopefulness", "hope"],
  ["agreed agree", "agre"],
  ["national nationalize", "nation"],
  ["apology apologies", "apolog"],
  ["user's users", "user"],
])("M49 the forms of a word are one word: %s", (forms, expected) => {
  for (const form of forms.split(" ")) expect(stem(form)).toMatch(new RegExp(`^${expected}`));
});

it.each([
  ["news", "new"],
  ["general", "generate"],
  ["sing", "sky"],
])("M49 %s and %s stay different words", (one, other) => {
  expect(stem(one)).not.toBe(stem(other));
});

it("M49 what is not an English word is left alone", () => {
  for (const word of ["", "a", "42", "größe", "файл", "x".repeat(10_000)]) expect(stem(word)).toBe(word);
});
