import { describe, expect, it } from "vitest";
import { findingLines } from "../../src/cli/views/finding.ts";

function shown(about: string, width: number): string[] {
  const lines = findingLines({ level: "ok", about, message: "program found" }, width);
  return lines.map((line) => line.map(({ text }) => text).join(""));
}

describe("a finding", () => {
  it("shows a name that is wider than the screen once, and the text below it", () => {
    expect(shown("customer-relationship-management", 24)).toEqual([
      "✓ customer-relationship-",
      "  management",
      "  program found",
    ]);
    expect(shown("file.json:7 bundles.of.everything", 24)).toEqual([
      "✓ file.json:7",
      "  bundles.of.everything",
      "  program found",
    ]);
    expect(shown("files", 24)).toEqual(["✓ files  program found"]);
  });
});
