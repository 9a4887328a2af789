import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonMembers } from "../../src/lib/json-members.ts";

/** Strings around the length at which the search changes, with quotes and backslashes at every place. */
const text = fc
  .array(fc.constantFrom("a", "ü", '"', "\\", "\n"), { minLength: 0, maxLength: 80 })
  .map((parts) => parts.join(""));

describe("members of a JSON object", () => {
  test("are found wherever quotes and backslashes stand in keys and values", () => {
    fc.assert(
      fc.property(text, text, text, (key, value, last) => {
        const bytes = Buffer.from(JSON.stringify({ [`k${key}`]: value, [`l${last}`]: [last, { key }] }));
        const members = jsonMembers(bytes) ?? [];
        const read = members.map(({ key: name, start, end }) => [
          name,
          JSON.parse(bytes.toString("utf8", start, end)),
        ]);
        expect(read).toEqual([
          [`k${key}`, value],
          [`l${last}`, [last, { key }]],
        ]);
      }),
    );
  });

  test.each([31, 32, 33, 34])("are refused where a string of %i characters has no end", (length) => {
    expect(jsonMembers(Buffer.from(`{"a":"${"x".repeat(length)}`))).toBeUndefined();
    expect(jsonMembers(Buffer.from(`{"a":"${"x".repeat(length)}\\"}`))).toBeUndefined();
  });
});
